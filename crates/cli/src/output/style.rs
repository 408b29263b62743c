//! How values are written where a format leaves it open.

use clap::ValueEnum;

/// How decimals stand in JSON.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Decimals {
    /// As numbers, with all digits of their scale.
    #[default]
    Number,
    /// As strings, for readers that take every number for a double.
    String,
}

/// How values are written.
#[derive(Debug, Clone, Default)]
pub(crate) struct Style {
    /// Text of a null in CSV.
    pub(crate) null: String,
    /// Decimals in JSON.
    pub(crate) decimals: Decimals,
}
