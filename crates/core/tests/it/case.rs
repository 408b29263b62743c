//! Tables in memory whose rows are text, so that a scenario reads like the case it comes from.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int8Type;
use arrow_array::{ArrayRef, Int8Array, RecordBatch, StringArray};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use linn_core::write::TableWriter;
use linn_core::{Commit, CommitOutcome, Env, Schemas, Snapshots, Table, read, storage};
use linn_format::options::Options;
use linn_format::predicate::Predicate;
use linn_format::schema::{NewTable, SchemaChange, TableSchema};
use linn_format::types::{DataField, DataType, RowKind, arrow_schema};
use linn_format::{Error, Result, SnapshotId};

const PATH: &str = "db.db/t";

/// A schema from columns as `name TYPE`, keys and options, checked as a DDL statement is.
pub(crate) fn schema(columns: &str, keys: &str, options: &[(&str, &str)]) -> Result<TableSchema> {
    let columns = parts(columns).into_iter().enumerate().map(|(i, column)| {
        let (name, sql) = column.split_once(' ').unwrap();
        DataField::new(i as i32, name, DataType::parse(sql).unwrap())
    });
    let mut all: Options = options.iter().copied().collect();
    if !all.contains("bucket") {
        all.set("bucket", "1");
    }
    let (keys, partitions) = keys.split_once(" / ").unwrap_or((keys, ""));
    let names = |text: &str| text.split(',').filter(|n| !n.is_empty()).map(str::to_owned).collect::<Vec<_>>();
    let new = NewTable {
        columns: columns.collect(),
        primary_keys: names(keys),
        partition_keys: names(partitions),
        options: all,
        ..NewTable::default()
    };
    TableSchema::create(new, 0)
}

/// What stands between commas, those within the brackets of a type left out.
fn parts(text: &str) -> Vec<&str> {
    let mut depth = 0;
    let outside = |c: char| {
        depth += match c {
            '(' | '<' => 1,
            ')' | '>' => -1,
            _ => 0,
        };
        c == ',' && depth == 0
    };
    text.split(outside).map(str::trim).collect()
}

/// A table and what was done to it.
pub(crate) struct Case {
    pub(crate) table: Table,
    user: String,
    next: i64,
}

impl Case {
    /// A new table in a store of its own; keys as `k` or `k,d / d` with partition columns.
    pub(crate) async fn new(columns: &str, keys: &str, options: &[(&str, &str)]) -> Self {
        let store = storage::open("memory:", &Options::new()).unwrap();
        let schema = schema(columns, keys, options).unwrap();
        Schemas::at(Arc::clone(&store), PATH).create(&schema).await.unwrap();
        Self { table: Table::new("db.t", PATH, schema, Env::system(store).unwrap()), user: "case".to_owned(), next: 1 }
    }

    /// A table that is there.
    pub(crate) fn of(table: Table) -> Self {
        Self { table, user: "own".to_owned(), next: 1 }
    }

    /// The same table as another user sees it, with other options.
    pub(crate) fn with(&self, options: &[(&str, &str)]) -> Self {
        let table = self.table.with_options(&options.iter().copied().collect()).unwrap();
        Self { table, user: format!("{}-other", self.user), next: 1 }
    }

    /// Rows such as `+I(1,abc,NULL)` as a batch and their kinds.
    pub(crate) fn batch(&self, rows: &[&str]) -> (RecordBatch, Int8Array) {
        let fields = &self.table.schema().fields;
        let parsed: Vec<(i8, Vec<Option<String>>)> = rows.iter().map(|row| parse(row)).collect();
        let arrow = arrow_schema(fields).unwrap();
        let columns = arrow.fields().iter().enumerate().map(|(c, field)| {
            let text: ArrayRef = Arc::new(StringArray::from_iter(parsed.iter().map(|(_, values)| values[c].clone())));
            arrow_cast::cast(&text, field.data_type()).unwrap()
        });
        let columns: Vec<(&str, ArrayRef)> = fields.iter().map(|f| f.name.as_str()).zip(columns).collect();
        // Every column may be null here: the table has to say where it may not.
        let batch = RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, c)| (n, c, true))).unwrap();
        (batch, Int8Array::from_iter_values(parsed.iter().map(|(kind, _)| *kind)))
    }

    /// Writes rows with a writer and commits them.
    pub(crate) async fn write(&mut self, writer: &mut TableWriter, rows: &[&str]) -> Result<CommitOutcome> {
        let (batch, kinds) = self.batch(rows);
        writer.write(&batch, Some(&kinds)).await?;
        let messages = writer.prepare_commit(true).await?;
        self.next += 1;
        self.table.committer(&self.user).commit(Commit::streaming(self.next, messages)).await
    }

    /// One commit of a writer of its own.
    pub(crate) async fn try_commit(&mut self, rows: &[&str]) -> Result<()> {
        let mut writer = self.table.writer(&self.user)?;
        let outcome = self.write(&mut writer, rows).await?;
        writer.close().await?;
        match outcome {
            CommitOutcome::Committed(_) => Ok(()),
            other => Err(Error::conflict(format!("{other:?}"))),
        }
    }

    /// As [`Case::try_commit`], which must succeed.
    pub(crate) async fn commit(&mut self, rows: &[&str]) {
        self.try_commit(rows).await.unwrap();
    }

    /// Compacts as a job of its own and commits; how many buckets changed.
    pub(crate) async fn compact(&mut self, full: bool) -> usize {
        let messages = self.table.compact(None, full).await.unwrap();
        let count = messages.len();
        self.next += 1;
        let outcome = self
            .table
            .committer(format!("{}-compactor", self.user))
            .commit(Commit::streaming(self.next, messages))
            .await
            .unwrap();
        assert!(matches!(outcome, CommitOutcome::Committed(_)), "{outcome:?}");
        count
    }

    /// All rows as text, sorted.
    pub(crate) async fn rows(&self) -> Vec<String> {
        let names: Vec<&str> = self.table.schema().fields.iter().map(|f| f.name.as_str()).collect();
        self.select(&names, None).await
    }

    /// Some columns of the rows for which `filter` holds, as text, sorted.
    pub(crate) async fn select(&self, columns: &[&str], filter: Option<Predicate>) -> Vec<String> {
        let mut scan = self.table.scan();
        if let Some(filter) = &filter {
            scan = scan.filter(filter.clone());
        }
        let reading = self.table.read().project(columns).unwrap().filter(filter).build().unwrap();
        let mut rows = Vec::new();
        for split in scan.plan().await.unwrap().splits {
            for batch in read::collect(reading.stream(&split).await.unwrap()).await.unwrap() {
                rows.extend(text(&batch));
            }
        }
        rows.sort();
        rows
    }

    /// Changes the schema, and goes on with the new one.
    pub(crate) async fn alter(&mut self, changes: &[SchemaChange]) {
        let schemas = Schemas::at(Arc::clone(self.table.storage()), PATH);
        let schema = schemas.commit(&self.table, changes).await.unwrap();
        self.table = self.table.with_schema((*schema).clone());
    }

    /// The changes that a snapshot tells, in order, such as `+I 1,abc`.
    pub(crate) async fn changes(&self, snapshot: i64) -> Vec<String> {
        let values = self.table.schema().fields.len();
        let read = self.table.read().build().unwrap();
        let snapshot = Snapshots::new(&self.table).get(SnapshotId(snapshot)).await.unwrap();
        let mut changes = Vec::new();
        for split in self.table.scan().plan_changelog(&snapshot).await.unwrap().splits {
            for batch in read::collect(read.changes(&split).unwrap()).await.unwrap() {
                let kinds = batch.columns().last().unwrap().as_primitive::<Int8Type>().clone();
                let rows = text(&batch.project(&(0..values).collect::<Vec<_>>()).unwrap());
                let word = |kind: i8| RowKind::from_byte(kind.unsigned_abs()).unwrap().short();
                changes.extend(rows.iter().zip(kinds.values()).map(|(row, kind)| format!("{} {row}", word(*kind))));
            }
        }
        changes
    }

    /// The changes that the snapshots after `snapshot` tell, and the latest snapshot.
    pub(crate) async fn changes_since(&self, snapshot: i64) -> (Vec<String>, i64) {
        let latest = self.latest().await;
        let mut changes = Vec::new();
        for id in snapshot + 1..=latest {
            changes.extend(self.changes(id).await);
        }
        (changes, latest)
    }

    /// Number of the latest snapshot, 0 before the first.
    pub(crate) async fn latest(&self) -> i64 {
        Snapshots::new(&self.table).latest_id().await.unwrap().map_or(0, |id| id.0)
    }

    /// Levels of the live files, sorted.
    pub(crate) async fn levels(&self) -> Vec<i32> {
        let splits = self.table.scan().every_level().plan().await.unwrap().splits;
        let mut levels: Vec<i32> = splits.iter().flat_map(|s| &s.files).map(|f| f.level).collect();
        levels.sort_unstable();
        levels
    }

    /// A column of the table, for filters.
    pub(crate) fn field(&self, name: &str) -> DataField {
        self.table.schema().field(name).unwrap().clone()
    }
}

fn parse(row: &str) -> (i8, Vec<Option<String>>) {
    let (kind, values) = row.split_once('(').unwrap();
    let values = values.strip_suffix(')').unwrap();
    let value = |text: &str| (text != "NULL").then(|| text.trim_matches('\'').to_owned());
    (RowKind::parse(kind).unwrap() as i8, split(values).into_iter().map(value).collect())
}

/// At commas outside of quotes.
fn split(values: &str) -> Vec<&str> {
    let (mut parts, mut from, mut quoted) = (Vec::new(), 0, false);
    for (at, c) in values.char_indices() {
        match c {
            '\'' => quoted = !quoted,
            ',' if !quoted => {
                parts.push(&values[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&values[from..]);
    parts
}

pub(crate) fn text(batch: &RecordBatch) -> Vec<String> {
    let options = FormatOptions::default().with_null("NULL");
    let columns: Vec<_> = batch.columns().iter().map(|c| ArrayFormatter::try_new(c, &options).unwrap()).collect();
    (0..batch.num_rows())
        .map(|row| columns.iter().map(|c| c.value(row).to_string()).collect::<Vec<_>>().join(","))
        .collect()
}
