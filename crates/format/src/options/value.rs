//! What the text of an option is read as.

use std::time::Duration;

use super::def::OptionKind;
use super::parse;
use crate::{Error, Result};

/// A type that the text of options is read as.
pub trait OptionValue {
    /// What is read; text stays in the options.
    type Read<'o>;

    /// Reads the text of an option of this kind.
    ///
    /// # Errors
    /// `Invalid` for other text; the message says what was expected.
    fn read(text: &str, kind: OptionKind) -> Result<Self::Read<'_>>;
}

/// A size in bytes.
#[derive(Debug, Clone, Copy)]
pub enum Memory {}

/// A word of an [`OptionKind::Choice`], spelt as in the table.
#[derive(Debug, Clone, Copy)]
pub enum Word {}

/// `key:value` pairs.
#[derive(Debug, Clone, Copy)]
pub enum Pairs {}

/// Types that own what is read.
macro_rules! read {
    ($($type:ty => $read:ty, $parse:expr);* $(;)?) => {
        $(impl OptionValue for $type {
            type Read<'o> = $read;

            fn read(text: &str, _: OptionKind) -> Result<$read> {
                $parse(text)
            }
        })*
    };
}

read! {
    bool => bool, parse::parse_bool;
    i32 => i32, parse::parse_number;
    i64 => i64, parse::parse_number;
    f64 => f64, parse::parse_number;
    Duration => Duration, parse::parse_duration;
    Memory => u64, parse::parse_memory;
}

impl OptionValue for Word {
    type Read<'o> = &'static str;

    fn read(text: &str, kind: OptionKind) -> Result<&'static str> {
        match kind {
            OptionKind::Choice(words) => parse::parse_choice(text, words),
            _ => Err(Error::internal("the option is not a choice")),
        }
    }
}

impl OptionValue for str {
    type Read<'o> = &'o str;

    fn read(text: &str, _: OptionKind) -> Result<&str> {
        Ok(text)
    }
}

impl OptionValue for Pairs {
    type Read<'o> = Vec<(&'o str, &'o str)>;

    fn read(text: &str, _: OptionKind) -> Result<Vec<(&str, &str)>> {
        parse::parse_map(text)
    }
}
