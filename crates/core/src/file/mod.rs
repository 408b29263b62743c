//! Data files of a table: where they lie, reading them as batches of the table's current columns, writing them with
//! their metadata.
//!
//! A file is read through the schema that it was written with; what comes out has the columns asked for, whatever the
//! file called them. Files are immutable: a path is written once.

mod blob;
mod bucket;
mod deletion;
mod index;
mod place;
mod query;
mod range;
mod rows;
#[cfg(test)]
mod tests;
mod tolerance;
mod write;
mod zip;

pub(crate) use blob::check as check_blobs;
pub(crate) use bucket::{BucketFiles, Output, Sink, give_up};
pub use deletion::DeletionFile;
pub(crate) use deletion::Positions;
pub(crate) use index::{answerable, deleted};
pub use place::{Place, extra_file_path, place_of};
pub use query::{FileQuery, read_file, read_positions, read_remaining};
pub use range::StoredFile;
pub(crate) use rows::matching;
pub use tolerance::Tolerance;
pub use write::{FileKind, RollingWriter};
pub use zip::{read_group, row_groups};

use linn_format::types::{DataField, DataType, Kind, ROW_ID, ROW_ID_ID};

/// Name of the column that tells a row's position in its file, counted with deleted rows.
pub const ROW_POSITION: &str = "_ROW_POSITION";
/// Field id of [`ROW_POSITION`]; it exists in memory only.
pub const ROW_POSITION_ID: i32 = i32::MAX - 1_000;

/// [`ROW_POSITION`] as a column that [`read_file`] can be asked for.
pub fn row_position_field() -> DataField {
    DataField::new(ROW_POSITION_ID, ROW_POSITION, DataType::required(Kind::BigInt))
}

/// `_ROW_ID` as a column that [`read_file`] can be asked for, in tables with row tracking.
pub fn row_id_field() -> DataField {
    DataField::new(ROW_ID_ID, ROW_ID, DataType::nullable(Kind::BigInt))
}
