//! Files as tables: `FROM 'a.parquet'`, `read_csv('…')`, and rows into files. Parquet and Arrow files are read by DataFusion
//! through the stores of tables; text is taken apart here, so that a quoted empty text and nothing stay two things.

mod aside;
mod bytes;
mod call;
mod columnar;
mod csv;
mod json;
mod options;
mod place;
mod store;
mod table;
mod text;
mod write;

pub(crate) use call::{FUNCTION_NAMES, FileCall, called};
pub(crate) use options::{FileFormat, FileOptions};
pub(crate) use place::Stores;
pub(crate) use table::open;
pub(crate) use write::write;
