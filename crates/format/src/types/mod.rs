//! Data types of table columns: SQL spelling, JSON spelling, Arrow mapping (spec: format.md C.3, C.7; features.md B1).

mod alias;
mod arrow;
mod compact;
mod data_type;
mod display;
mod ids;
mod json;
mod parse;
mod row_kind;
#[cfg(test)]
mod tests;
mod token;
mod wide;

pub use arrow::{FIELD_ID_KEY, arrow_field, arrow_schema, arrow_type, field_id, fields_from_arrow};
pub(crate) use compact::{MAX_COMPACT_DECIMAL, split};
pub use data_type::{DataField, DataType, Kind};
pub use ids::{assign_ids, assign_nested_ids, element_id, highest_id, map_key_id, map_value_id};
pub use row_kind::RowKind;
pub use wide::{NANOS_OF_SECOND, has_nanos, narrowed, spelled, widened};
pub(crate) use wide::{WIDE_TIMESTAMP, split_wide, wide_of};

/// Added to a primary-key column's field id to name its `_KEY_` column in data files.
pub const KEY_FIELD_ID_OFFSET: i32 = 1_073_741_823;
/// Field id of `_SEQUENCE_NUMBER`.
pub const SEQUENCE_NUMBER_ID: i32 = 2_147_483_646;
/// Field id of `_VALUE_KIND`.
pub const VALUE_KIND_ID: i32 = 2_147_483_645;
/// Field id of `_LEVEL`.
pub const LEVEL_ID: i32 = 2_147_483_644;
/// Field id of `rowkind`.
pub const ROW_KIND_ID: i32 = 2_147_483_643;
/// Field id of `_ROW_ID`.
pub const ROW_ID_ID: i32 = 2_147_483_642;
/// Name prefix of the key columns in the data files of a primary-key table.
pub const KEY_PREFIX: &str = "_KEY_";
/// Column that orders the records of one key.
pub const SEQUENCE_NUMBER: &str = "_SEQUENCE_NUMBER";
/// Column that holds a record's [`RowKind`] as a byte.
pub const VALUE_KIND: &str = "_VALUE_KIND";
/// Column of file readers that tells a record's level.
pub const LEVEL: &str = "_LEVEL";
/// Column of the audit log that tells a record's kind.
pub const ROW_KIND: &str = "rowkind";
/// Column that tells a row's id, with row tracking.
pub const ROW_ID: &str = "_ROW_ID";
