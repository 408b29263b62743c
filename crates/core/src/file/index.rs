//! What a file's index and its deletion vector say before it is opened.

use std::borrow::Cow;
use std::sync::Arc;

use linn_format::file::DataFileMeta;
use linn_format::index::{IndexResult, evaluate};
use linn_format::predicate::Predicate;
use linn_format::row::BinaryRow;
use linn_format::types::{DataField, Kind};
use linn_format::{Error, Result, ResultExt, vector};
use roaring::RoaringTreemap;

use super::DeletionFile;
use super::extra_file_path;
use crate::table::Table;

/// The positions that a deletion vector removes.
///
/// # Errors
/// `NotFound` when the index file is gone, `Corrupt` when the vector is not there.
pub(crate) async fn deleted(table: &Table, deletion: &DeletionFile) -> Result<RoaringTreemap> {
    let read = async {
        let size = table.storage().stat(&deletion.path).await?.size;
        let range = vector::range(&deletion.meta, size)?;
        vector::parse(&table.storage().read(&deletion.path, Some(range)).await?, &deletion.meta)
    };
    read.await.context("path", &deletion.path)
}

/// The rows that a filter over columns of the file cannot match, by the file's index; none when no row can match.
pub(super) async fn excluded(
    table: &Table,
    partition: &BinaryRow,
    bucket: i32,
    file: &DataFileMeta,
    fields: &[DataField],
    filter: &Predicate,
) -> Result<Option<RoaringTreemap>> {
    if !table.options().file_index_read()? {
        return Ok(Some(RoaringTreemap::new()));
    }
    let bytes = match (&file.embedded_index, file.extra_files.iter().find(|name| name.ends_with(".index"))) {
        (Some(bytes), _) => bytes.clone(),
        (None, Some(name)) => {
            let path = extra_file_path(table, partition, bucket, file, name)?;
            table.storage().read(&path, None).await.context("path", path)?
        }
        (None, None) => return Ok(Some(RoaringTreemap::new())),
    };
    let filter = answerable(&file.file_name, fields, filter);
    match evaluate(&bytes, fields, &filter).context("file", &file.file_name)? {
        IndexResult::Skip => Ok(None),
        IndexResult::Keep => Ok(Some(RoaringTreemap::new())),
        IndexResult::Rows(rows) => {
            let count = u64::try_from(file.row_count).map_err(|_| Error::corrupt("a file has a negative row count"))?;
            let mut others = RoaringTreemap::new();
            others.insert_range(0..count);
            others -= rows.iter().map(u64::from).collect::<RoaringTreemap>();
            Ok(Some(others))
        }
    }
}

/// The part of a filter over columns of a file that its index can answer: ORC drops the blanks at the end of CHAR values, which
/// an index has.
pub(crate) fn answerable<'f>(name: &str, fields: &[DataField], filter: &'f Predicate) -> Cow<'f, Predicate> {
    let is_char = |id: i32| fields.iter().any(|f| f.id == id && matches!(f.data_type.kind, Kind::Char(_)));
    match name.ends_with(".orc") && filter.field_ids().into_iter().any(is_char) {
        true => Cow::Owned(filter.project(|id| !is_char(id))),
        false => Cow::Borrowed(filter),
    }
}

/// The union, unless it is empty.
pub(super) fn union(a: Option<Arc<RoaringTreemap>>, b: RoaringTreemap) -> Option<Arc<RoaringTreemap>> {
    match a {
        Some(a) if b.is_empty() => Some(a),
        Some(a) => Some(Arc::new(&*a | b)),
        None => (!b.is_empty()).then(|| Arc::new(b)),
    }
}
