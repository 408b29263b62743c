//! `linn files`: the data files of a snapshot.

use std::collections::HashMap;
use std::sync::Arc;

use linn::format::datum::compare_rows;
use linn::format::file::DataFileMeta;
use linn::format::partition::partition_value;
use linn::format::row::BinaryRow;
use linn::{Result, Table};

use super::{orphan, picture, snapshot, tree};
use crate::args::FilesCommand;
use crate::context::Context;
use crate::output::{Columns, Document};

/// The files of one bucket.
#[derive(Debug)]
pub(super) struct Bucket {
    /// Name of the partition, empty in a table without partitions.
    pub(super) partition: String,
    /// Bucket.
    pub(super) bucket: i32,
    /// Files, by level and then by key.
    pub(super) files: Vec<Arc<DataFileMeta>>,
}

pub(super) async fn run(context: &Context, command: FilesCommand) -> Result<()> {
    match command {
        FilesCommand::List { table, snapshot } => {
            let table = context.table(&table).await?;
            list(context, &table, &buckets(&table, snapshot).await?)
        }
        FilesCommand::Tree { table, snapshot } => {
            let table = context.table(&table).await?;
            let buckets = buckets(&table, snapshot).await?;
            Document { json: tree::document(&table, &buckets)?, text: tree::draw(&table, &buckets)? }
                .show(context.output)
        }
        FilesCommand::Picture(args) => picture::run(context, &args).await,
        FilesCommand::Repair { table, sure } => orphan::repair(context, &table, &sure).await,
    }
}

/// The buckets of a snapshot, or of the latest one, in partition and bucket order; none in an empty table.
pub(super) async fn buckets(table: &Table, id: Option<i64>) -> Result<Vec<Bucket>> {
    let found = match snapshot::find(table, id).await {
        Err(e) if id.is_none() && e.kind() == linn::ErrorKind::NotFound => return Ok(Vec::new()),
        found => found?,
    };
    let mut buckets: HashMap<(BinaryRow, i32), Vec<Arc<DataFileMeta>>> = HashMap::new();
    for split in table.scan().snapshot(found).every_level().plan().await?.splits {
        buckets.entry((split.partition, split.bucket)).or_default().extend(split.files);
    }
    let fields = table.schema().partition_fields();
    let mut all = Vec::with_capacity(buckets.len());
    for ((row, bucket), mut files) in buckets {
        files.sort_by_key(|f| (f.level, f.min_sequence_number));
        let values = row.datums(fields.iter().map(|field| &field.data_type))?;
        all.push((values, Bucket { partition: partition(table, &row)?, bucket, files }));
    }
    // By value: month 10 comes after month 2.
    all.sort_by(|(a, left), (b, right)| compare_rows(a, b).then(left.bucket.cmp(&right.bucket)));
    Ok(all.into_iter().map(|(_, bucket)| bucket).collect())
}

/// The name of a partition.
pub(super) fn partition(table: &Table, row: &BinaryRow) -> Result<String> {
    table.partition_name(row)
}

/// A key as text, its columns separated by commas.
pub(super) fn key(table: &Table, row: &BinaryRow) -> Result<String> {
    if row.arity() == 0 {
        return Ok(String::new());
    }
    let mut texts = Vec::new();
    for (i, field) in table.schema().trimmed_primary_keys().iter().enumerate() {
        texts.push(match row.datum(i, &field.data_type)? {
            Some(datum) => partition_value(&datum, &field.data_type, false).unwrap_or_else(|_| "…".to_owned()),
            None => "null".to_owned(),
        });
    }
    Ok(texts.join(","))
}

fn list(context: &Context, table: &Table, buckets: &[Bucket]) -> Result<()> {
    let rows: Vec<(&Bucket, &DataFileMeta)> =
        buckets.iter().flat_map(|b| b.files.iter().map(move |f| (b, f.as_ref()))).collect();
    let keys =
        |of: fn(&DataFileMeta) -> &BinaryRow| rows.iter().map(|(_, f)| key(table, of(f))).collect::<Result<Vec<_>>>();
    Columns::new()
        .text("partition", rows.iter().map(|(b, _)| &b.partition))
        .number("bucket", rows.iter().map(|(b, _)| i64::from(b.bucket)))
        .number("level", rows.iter().map(|(_, f)| i64::from(f.level)))
        .text("file", rows.iter().map(|(_, f)| &f.file_name))
        .number("bytes", rows.iter().map(|(_, f)| f.file_size))
        .number("rows", rows.iter().map(|(_, f)| f.row_count))
        .number("deletes", rows.iter().map(|(_, f)| f.delete_row_count))
        .text("min_key", keys(|f| &f.min_key)?)
        .text("max_key", keys(|f| &f.max_key)?)
        .number("min_sequence", rows.iter().map(|(_, f)| f.min_sequence_number))
        .number("max_sequence", rows.iter().map(|(_, f)| f.max_sequence_number))
        .number("schema", rows.iter().map(|(_, f)| f.schema_id.0))
        .show(context.output)
}
