//! `file_indexes`: the indexes of data files, from their metadata or the files beside them.

use std::sync::Arc;

use linn_format::file::DataFileMeta;
use linn_format::index::IndexFile;
use linn_format::row::BinaryRow;
use linn_format::{Error, Result, ResultExt};

use super::SystemRows;
use super::columns::{Column, rows};
use super::files::Described;
use crate::file::extra_file_path;
use crate::table::Table;

/// How the names of files with indexes end.
const SUFFIX: &str = ".index";

/// An index of a column of a file.
pub(super) struct Indexed<'d> {
    file: &'d Described,
    column: String,
    kind: String,
    size: i64,
    empty: bool,
    /// Where the indexes of the file lie, unless in its metadata.
    path: Option<Arc<str>>,
    container: i64,
}

/// The path of the file beside a data file that has its indexes, if any; relative to the store's root.
///
/// # Errors
/// `Corrupt` when it has several.
pub(super) fn index_path(
    table: &Table,
    partition: &BinaryRow,
    bucket: i32,
    file: &DataFileMeta,
) -> Result<Option<String>> {
    let mut names = file.extra_files.iter().filter(|name| name.ends_with(SUFFIX));
    match (file.embedded_index.is_some(), names.next(), names.next()) {
        (true, ..) | (false, None, _) => Ok(None),
        (false, Some(name), None) => extra_file_path(table, partition, bucket, file, name).map(Some),
        _ => Err(Error::corrupt("a data file has several files of indexes").with("file", &file.file_name)),
    }
}

/// The indexes of these files, in their order.
///
/// # Errors
/// `NotFound` or `Corrupt` with the path of an index file that cannot be read.
pub(super) async fn of<'d>(table: &Table, files: &'d [Described]) -> Result<Vec<Indexed<'d>>> {
    let mut all = Vec::new();
    for file in files {
        let (bytes, path) = match (&file.file.embedded_index, &file.index) {
            (Some(bytes), _) => (bytes.clone(), None),
            (None, Some(path)) => (table.storage().read(path, None).await?, Some(path)),
            (None, None) => continue,
        };
        let name = path.unwrap_or(&file.path);
        let index = IndexFile::parse(&bytes).context("path", name)?;
        let root = table.storage().root().trim_end_matches('/');
        let path: Option<Arc<str>> = path.map(|path| format!("{root}/{path}").into());
        let container = i64::try_from(bytes.len()).unwrap_or(i64::MAX);
        all.extend(index.parts.into_iter().map(|part| Indexed {
            file,
            column: part.column,
            kind: part.index_type,
            size: part.body.as_ref().map_or(0, |body| i64::try_from(body.len()).unwrap_or(i64::MAX)),
            empty: part.body.is_none(),
            path: path.clone(),
            container,
        }));
    }
    Ok(all)
}

pub(super) fn rows_of(all: &[Indexed<'_>]) -> Result<SystemRows> {
    let long = |name: &str, of: fn(&Indexed<'_>) -> i64| Column::long(name, all.iter().map(|i| Some(of(i)))).required();
    rows([
        Column::text("partition", all.iter().map(|i| Some(&i.file.partition))),
        Column::int("bucket", all.iter().map(|i| i.file.bucket)),
        Column::text("file_path", all.iter().map(|i| Some(&i.file.path))).required(),
        long("file_size_in_bytes", |i| i.file.file.file_size),
        long("record_count", |i| i.file.file.row_count),
        long("schema_id", |i| i.file.file.schema_id.0),
        Column::text("column_name", all.iter().map(|i| Some(&i.column))).required(),
        Column::text("index_type", all.iter().map(|i| Some(&i.kind))).required(),
        Column::text("storage_type", all.iter().map(|i| Some(if i.path.is_some() { "FILE" } else { "EMBEDDED" })))
            .required(),
        Column::text("index_file_path", all.iter().map(|i| i.path.as_ref())),
        long("index_size_in_bytes", |i| i.size),
        long("index_container_size_in_bytes", |i| i.container),
        Column::boolean("is_empty", all.iter().map(|i| i.empty)),
    ])
}
