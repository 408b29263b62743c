//! Whether the rows of a table can be read under a new type of a column: texts may be no value of it, and times beyond its range.
//!
//! A cast that fails would fail for good, in compactions as well; so the files of the latest snapshot are read before the type
//! changes. Rows that are hidden by newer ones count, since a compaction meets them.

use std::collections::HashSet;

use futures::TryStreamExt;
use linn_format::schema::TableSchema;
use linn_format::types::{DataField, DataType, Kind};
use linn_format::{Error, ErrorKind, Result};

use crate::file::{FileQuery, read_file};
use crate::snapshot::Snapshots;
use crate::table::Table;

/// # Errors
/// `Invalid` naming the first row found that is no value of a new type; what reading the table yields.
pub(super) async fn check_values(table: &Table, old: &TableSchema, new: &TableSchema) -> Result<()> {
    let is_doubtful =
        |field: &&DataField| old.fields.iter().any(|f| f.id == field.id && may_fail(&f.data_type, &field.data_type));
    let doubtful: Vec<DataField> = new.fields.iter().filter(is_doubtful).cloned().collect();
    if doubtful.is_empty() {
        return Ok(());
    }
    let Some(snapshot) = Snapshots::new(table).latest().await? else { return Ok(()) };
    let table = table.with_schema(new.clone());
    let changed: HashSet<i32> = doubtful.iter().map(|field| field.id).collect();
    // The key names the row in an error.
    let keys = new.primary_keys.iter().filter_map(|key| new.field(key)).filter(|key| !changed.contains(&key.id));
    let fields: Vec<DataField> = keys.cloned().chain(doubtful).collect();
    let batch_size = table.options().read_batch_size()?;
    for split in table.scan().snapshot(snapshot).every_level().plan().await?.splits {
        for (at, file) in split.files.iter().enumerate() {
            let deletion = split.deletion_files.get(at).and_then(Option::as_ref);
            let query = FileQuery::all(fields.clone(), batch_size);
            let checked = async {
                let mut rows = read_file(&table, &split.partition, split.bucket, file, deletion, query).await?;
                while rows.try_next().await?.is_some() {}
                Ok::<_, Error>(())
            };
            checked.await.map_err(|e| match e.kind() {
                ErrorKind::Invalid | ErrorKind::Unsupported => e.with_hint(
                    "change or delete the row first, or add a column of that type and copy the values that fit",
                ),
                _ => e,
            })?;
        }
    }
    Ok(())
}

/// Whether some value of a type is none of the other.
fn may_fail(from: &DataType, to: &DataType) -> bool {
    let is_text = |kind: &Kind| matches!(kind, Kind::Char(_) | Kind::Varchar(_));
    let has_nanos = |kind: &Kind| matches!(kind, Kind::Timestamp(7..) | Kind::LocalZonedTimestamp(7..));
    match (&from.kind, &to.kind) {
        (from, to) if from == to => false,
        (from, to) if is_text(from) => !is_text(to) && !matches!(to, Kind::Binary(_) | Kind::Varbinary(_)),
        (from, to) if has_nanos(to) => !has_nanos(from),
        (Kind::Array(from), Kind::Array(to)) | (Kind::Multiset(from), Kind::Multiset(to)) => may_fail(from, to),
        (Kind::Map(key, value), Kind::Map(to_key, to_value)) => may_fail(key, to_key) || may_fail(value, to_value),
        (Kind::Row(from), Kind::Row(to)) => {
            to.iter().any(|to| from.iter().any(|from| from.id == to.id && may_fail(&from.data_type, &to.data_type)))
        }
        _ => false,
    }
}
