//! `linn table diff`: what differs between two snapshots or tags.
//!
//! Rows of tables with a primary key are compared key by key: `added`, `removed`, or `before` and `after` of a change. Rows of
//! other tables have no identity; they are counted, and what one side has more of is shown with how many more. Rows are those of
//! the columns that the table has now.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use futures::StreamExt;
use linn::core::Snapshots;
use linn::core::read::{Read, kinds_of};
use linn::format::BatchStream;
use linn::format::snapshot::Snapshot;
use linn::format::types::{Kind, RowKind};
use linn::{Identifier, Result, Table};
use linn_sql::quoted;

use super::read::{name, text};
use super::show_result;
use crate::args::DiffArgs;
use crate::context::{Context, DATABASE, identifier};

pub(super) async fn run(context: &Context, args: &DiffArgs) -> Result<()> {
    let id = identifier(&args.table)?;
    let session = context.session(DATABASE)?;
    let table = session.catalog().table(&id).await?;
    let (from, to) = (Version::of(&table, &args.from).await?, Version::of(&table, &args.to).await?);
    if args.files {
        let sql = Files { id: &id, from: &from.name, to: &to.name }.query();
        let sql = match args.count {
            true => format!("SELECT change, count(*) AS \"rows\" FROM ({sql}) GROUP BY change ORDER BY change"),
            false => sql,
        };
        return show_result(context, session.execute(&sql).await?).await.map(|_| ());
    }
    let (schema, stream, names) = differences(&table, &from, &to).await?;
    let query = names.query(&table, args.count);
    show_result(context, linn_sql::query_rows(schema, stream, &query).await?).await.map(|_| ())
}

/// One side of the comparison.
struct Version {
    /// As `scan.version` takes it.
    name: String,
    /// None in a table without snapshots.
    snapshot: Option<Arc<Snapshot>>,
}

impl Version {
    async fn of(table: &Table, version: &str) -> Result<Self> {
        let snapshots = Snapshots::new(table);
        let name = match version {
            "latest" => snapshots.latest_id().await?.map_or_else(|| version.to_owned(), |id| id.0.to_string()),
            tag => tag.strip_prefix("tag:").unwrap_or(tag).to_owned(),
        };
        if name == "latest" {
            return Ok(Self { name, snapshot: None });
        }
        let at = table.with_options(&[("scan.version", name.as_str())].into_iter().collect())?;
        let snapshot = Snapshots::new(&at).travel().await?;
        Ok(Self { name, snapshot })
    }
}

/// The differences with their kind as the first column.
async fn differences(table: &Table, from: &Version, to: &Version) -> Result<(SchemaRef, BatchStream, Names)> {
    let splits = match (&from.snapshot, &to.snapshot) {
        (Some(from), Some(to)) if from.id != to.id || from != to => {
            table.scan().plan_difference(Some(from), to).await?.splits
        }
        _ => Vec::new(),
    };
    let read = table.read().fields(table.visible_fields()?).pairs().build()?;
    let names = Names::of(&read);
    let mut fields = vec![Arc::new(Field::new(&names.change, DataType::Utf8, false))];
    fields.extend(read.schema().fields().iter().cloned());
    let schema = Arc::new(Schema::new(fields));
    let told = Arc::clone(&schema);
    let parts = futures::stream::iter(splits.into_iter().map(move |split| read.changes(&split)));
    let parts = parts.flat_map(|part| match part {
        Ok(part) => part,
        Err(e) => futures::stream::once(std::future::ready(Err(e))).boxed(),
    });
    let rows = parts.map(move |batch| {
        let batch = batch?;
        let words = kinds_of(&batch)?.values().iter().map(|kind| match kind {
            kind if *kind == RowKind::Insert as i8 => "added",
            kind if *kind == RowKind::UpdateBefore as i8 => "before",
            kind if *kind == RowKind::UpdateAfter as i8 => "after",
            _ => "removed",
        });
        let mut columns: Vec<ArrayRef> = vec![Arc::new(StringArray::from_iter_values(words))];
        columns.extend(batch.columns().iter().take(batch.num_columns().saturating_sub(1)).cloned());
        Ok(RecordBatch::try_new(Arc::clone(&told), columns)?)
    });
    Ok((schema, rows.boxed(), names))
}

/// Names of what is told beside the columns of the table, none of which is a column of it.
struct Names {
    change: String,
    rows: String,
    columns: Vec<String>,
}

impl Names {
    fn of(read: &Read) -> Self {
        let columns: Vec<String> = read.schema().fields().iter().map(|field| field.name().clone()).collect();
        let free = |name: &str| {
            let mut name = name.to_owned();
            while columns.contains(&name) {
                name.insert(0, '_');
            }
            name
        };
        Self { change: free("change"), rows: free("rows"), columns }
    }

    fn query(&self, table: &Table, count: bool) -> String {
        let (change, rows) = (quoted(&self.change), quoted(&self.rows));
        let all = || self.columns.iter().map(|column| quoted(column)).collect::<Vec<_>>().join(", ");
        let source = quoted(linn_sql::ROWS);
        if count {
            return format!("SELECT {change}, count(*) AS {rows} FROM {source} GROUP BY {change} ORDER BY {change}");
        }
        if table.schema().is_primary_key_table() {
            let keys: Vec<String> = table.schema().primary_keys.iter().map(|key| quoted(key)).collect();
            // The row before a change comes before the one after it.
            return format!("SELECT {change}, {} FROM {source} ORDER BY {}, {change} DESC", all(), keys.join(", "));
        }
        let flat = |name: &&String| table.schema().field(name).is_some_and(|field| !is_nested(&field.data_type.kind));
        let mut order: Vec<String> = self.columns.iter().filter(flat).map(|column| quoted(column)).collect();
        order.push(change.clone());
        format!(
            "SELECT {change}, count(*) AS {rows}, {all} FROM {source} GROUP BY {change}, {all} ORDER BY {}",
            order.join(", "),
            all = all(),
        )
    }
}

fn is_nested(kind: &Kind) -> bool {
    matches!(kind, Kind::Array(_) | Kind::Map(..) | Kind::Multiset(_) | Kind::Row(_))
}

/// The two versions of a table whose files are compared.
struct Files<'a> {
    id: &'a Identifier,
    from: &'a str,
    to: &'a str,
}

impl Files<'_> {
    fn query(&self) -> String {
        let files = Identifier { system: Some("file_key_ranges".to_owned()), ..self.id.clone() };
        let side =
            |version: &str| format!("SELECT * FROM {} OPTIONS('scan.version' = {})", name(&files), text(version));
        let column = |n: &str| format!("COALESCE(b.{n}, a.{n}) AS {n}");
        let columns = ["partition", "bucket", "level", "file_path", "record_count", "file_size_in_bytes"].map(column);
        format!(
            "SELECT CASE WHEN a.file_path IS NULL THEN 'added' ELSE 'removed' END AS change, {} FROM ({}) a \
             FULL OUTER JOIN ({}) b ON a.file_path = b.file_path AND a.level = b.level \
             WHERE a.file_path IS NULL OR b.file_path IS NULL ORDER BY file_path, change DESC",
            columns.join(", "),
            side(self.from),
            side(self.to)
        )
    }
}
