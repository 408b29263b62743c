//! INSERT INTO, INSERT OVERWRITE, CREATE TABLE AS, and writing a query's rows to a table.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Int8Array, RecordBatch, StringArray, new_null_array};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::prelude::DataFrame;
use datafusion::sql::sqlparser::tokenizer::TokenWithSpan;
use futures::StreamExt;
use linn::core::commit::{CommitMessage, Overwrite};
use linn::core::write::TableWriter;
use linn::format::types::{DataField, arrow_schema};
use linn::{Error, ErrorKind, Identifier, NewTable, Result, ResultExt, Table, commit_once, overwrite_once};

use super::assign::assign;
use super::change::{open_target, query};
use super::default;
use super::literal;
use super::number::TargetColumns;
use super::query::{frame, frame_over, parse};
use crate::error::ours;
use crate::parse::{Cursor, Insert, PartitionValues, TableOptions};
use crate::session::{Output, Session};

/// Where each column of a table comes from in the rows to be written.
pub(super) enum Source {
    /// From a column of the query.
    Column(usize),
    /// It has one value.
    Text(String),
    /// It has none.
    Null,
}

/// An INSERT that is planned: nothing is written until it runs.
pub(super) struct Inserting {
    pub(super) table: Table,
    /// The rows of the query.
    pub(super) rows: DataFrame,
    sources: Vec<Source>,
    /// What OVERWRITE names.
    overwrites: Option<PartitionValues>,
}

pub(super) async fn insert(session: &Session, insert: Insert, options: &TableOptions) -> Result<Output> {
    plan(session, insert, options).await?.run().await
}

/// Plans an INSERT.
pub(super) async fn plan(session: &Session, insert: Insert, options: &TableOptions) -> Result<Inserting> {
    let table = open_target(session, &insert.table, options).await?;
    let fields = &table.schema().fields;
    let targets = named(&table, &insert.columns, &insert.partition);
    let targets = targets.into_iter().map(|name| fields.iter().find(|f| f.name == name)).collect::<Option<Vec<_>>>();
    let targets = targets.unwrap_or_default();
    let mut source = if defaults(&insert) { query(&default::row(&targets))? } else { parse(insert.query)? };
    default::fill(&mut source, &targets)?;
    literal::fit_values(&mut source, &targets);
    let rows = frame_over(session, source, options, None, &TargetColumns::InOrder(&targets)).await?;
    let sources = sources(&table, &insert.columns, &insert.partition, rows.schema().inner())?;
    Ok(Inserting { table, rows, sources, overwrites: insert.overwrite.then_some(insert.partition) })
}

impl Inserting {
    async fn run(self) -> Result<Output> {
        let Self { table, rows, sources, overwrites } = self;
        let rows = rows.execute_stream().await.map_err(ours)?;
        let shaped = rows.map({
            let fields = table.visible_fields()?;
            move |batch| Ok((shape(&batch.map_err(ours)?, &sources, &fields)?, None))
        });
        if let Some(partition) = overwrites {
            let written = overwrite(&table, &partition, shaped.boxed()).await.context("table", table.name())?;
            return Ok(Output::overwrote(written, table.name()));
        }
        let written = write(&table, shaped.boxed()).await?;
        Ok(Output::wrote("Inserted", written, format!("into {}", table.name())))
    }
}

/// Whether this is `INSERT INTO t DEFAULT VALUES`.
fn defaults(insert: &Insert) -> bool {
    let mut cursor = Cursor::new(&insert.query);
    insert.columns.is_empty() && cursor.take("DEFAULT VALUES") && cursor.done()
}

pub(super) async fn create_table_as(
    session: &Session,
    parts: &[String],
    mut definition: NewTable,
    if_not_exists: bool,
    query: &[TokenWithSpan],
    options: &TableOptions,
) -> Result<Output> {
    let id = session.identifier(parts)?;
    match session.catalog().table(&id).await {
        Ok(_) if if_not_exists => return Ok(Output::done(format!("Table {id} already exists; nothing was done."))),
        Ok(_) => return Err(Error::already_exists("the table exists already").with("table", &id)),
        Err(e) if e.kind() == ErrorKind::NotFound => {}
        Err(e) => return Err(e),
    }
    let frame = frame(session, parse(query.to_vec())?, options).await?;
    if definition.columns.is_empty() {
        definition.columns = linn::format::types::fields_from_arrow(frame.schema().inner())?;
    }
    session.catalog().create_table(&id, definition, false).await?;
    let written = match fill(session, &id, frame).await {
        Ok(written) => written,
        Err(e) => {
            // The table is part of the statement: without its rows it is not wanted.
            if let Err(left) = session.catalog().drop_table(&id, true).await {
                tracing::warn!("the empty table {id} of a failed statement is left over: {left}");
            }
            return Err(e);
        }
    };
    Ok(Output::filled(format!("Created table {id}"), written))
}

/// Writes the rows of a query into a new table.
async fn fill(session: &Session, id: &Identifier, rows: DataFrame) -> Result<u64> {
    let table = session.catalog().table(id).await?;
    let sources = sources(&table, &[], &[], rows.schema().inner())?;
    let fields = table.visible_fields()?;
    let rows = rows.execute_stream().await.map_err(ours)?;
    let shaped = rows.map(move |batch| Ok((shape(&batch.map_err(ours)?, &sources, &fields)?, None)));
    write(&table, shaped.boxed()).await
}

/// The columns that the rows of an INSERT are for, in their order.
pub(super) fn named<'a>(
    table: &'a Table,
    columns: &'a [String],
    partition: &[(String, Option<String>)],
) -> Vec<&'a str> {
    let is_static = |name: &str| partition.iter().any(|(key, _)| key == name);
    match columns {
        [] => table.schema().fields.iter().map(|f| f.name.as_str()).filter(|name| !is_static(name)).collect(),
        columns => columns.iter().map(String::as_str).collect(),
    }
}

pub(super) fn sources(
    table: &Table,
    columns: &[String],
    partition: &[(String, Option<String>)],
    rows: &SchemaRef,
) -> Result<Vec<Source>> {
    let fields = &table.schema().fields;
    let unknown =
        |name: &str| Error::invalid("the table has no such column").with("table", table.name()).with("column", name);
    for name in columns.iter().chain(partition.iter().map(|(k, _)| k)) {
        if !fields.iter().any(|f| f.name == *name) {
            return Err(unknown(name));
        }
    }
    let mistake = |what: &str, name: &str| Err(Error::invalid(what).with("table", table.name()).with("column", name));
    if let Some((_, name)) = columns.iter().enumerate().find(|(i, name)| columns.iter().take(*i).any(|n| n == *name)) {
        return mistake("the column is named twice", name);
    }
    for (name, _) in partition {
        if !table.schema().partition_keys.contains(name) {
            return mistake("PARTITION names a column that is not a partition column", name);
        }
        if columns.contains(name) {
            return mistake("the column has a value from PARTITION already", name);
        }
    }
    let is_static = |field: &DataField| partition.iter().find(|(k, _)| *k == field.name);
    let named = named(table, columns, partition);
    if named.len() != rows.fields().len() {
        return Err(Error::invalid(format!("the query gives {} columns for {}", rows.fields().len(), named.len()))
            .with("table", table.name())
            .with("columns", named.join(", ")));
    }
    Ok(fields
        .iter()
        .map(|field| match (named.iter().position(|n| *n == field.name), is_static(field)) {
            (Some(at), _) => Source::Column(at),
            (None, Some((_, value))) => value.clone().map_or(Source::Null, Source::Text),
            (None, None) => default::text(field).map_or(Source::Null, Source::Text),
        })
        .collect())
}

fn shape(batch: &RecordBatch, sources: &[Source], fields: &[DataField]) -> Result<RecordBatch> {
    let rows = batch.num_rows();
    let schema = arrow_schema(fields)?;
    let columns: Vec<ArrayRef> = sources
        .iter()
        .zip(schema.fields())
        .map(|(source, field)| match source {
            Source::Column(at) => Arc::clone(batch.column(*at)),
            Source::Text(text) => Arc::new(StringArray::from(vec![text.as_str(); rows])),
            Source::Null => new_null_array(field.data_type(), rows),
        })
        .collect();
    fitted(columns.iter(), fields)
}

/// A batch of the table's columns; a null where none is allowed is named by its column.
fn checked(schema: SchemaRef, columns: Vec<ArrayRef>) -> Result<RecordBatch> {
    for (field, column) in schema.fields().iter().zip(&columns) {
        if !field.is_nullable() && column.null_count() > 0 {
            return Err(Error::invalid("the column is NOT NULL")
                .with("column", field.name())
                .with_hint("give it a value, or leave out the rows that have none"));
        }
    }
    Ok(RecordBatch::try_new(schema, columns)?)
}

/// A batch of the columns of a table, cast to their types; a null where none is allowed is an error.
pub(crate) fn fitted<'c>(columns: impl Iterator<Item = &'c ArrayRef>, fields: &[DataField]) -> Result<RecordBatch> {
    let schema = arrow_schema(fields)?;
    let types = fields.iter().zip(schema.fields());
    let columns = columns.zip(types).map(|(column, (field, arrow))| assign(column, field, arrow.data_type()));
    let columns = columns.collect::<Result<Vec<_>>>()?;
    checked(schema, columns)
}

/// Rows of a table with their kinds (`None` means all are inserts).
pub(crate) type Rows = futures::stream::BoxStream<'static, Result<(RecordBatch, Option<Int8Array>)>>;

/// Writes rows and commits them once.
pub(crate) async fn write(table: &Table, rows: Rows) -> Result<u64> {
    put(table, rows).await.context("table", table.name())
}

async fn put(table: &Table, rows: Rows) -> Result<u64> {
    let user = table.new_user();
    let (written, writer, messages) = feed(table.batch_writer(&user).await?, rows).await?;
    // Statements are deep already.
    Box::pin(commit_once(table, &user, writer, messages)).await?;
    Ok(written)
}

/// Replaces partitions: those of the spec, without one those that the rows are in, or all when the options say so. Returns the
/// number of rows.
pub(crate) async fn overwrite(table: &Table, partition: &PartitionValues, rows: Rows) -> Result<u64> {
    let user = table.new_user();
    let writer = match partition.is_empty() {
        true => table.batch_overwriter(&user).await?,
        false => table.partition_overwriter(&user, partition).await?,
    };
    let (written, writer, messages) = feed(writer, rows).await?;
    let target = if !partition.is_empty() {
        Overwrite::Partition(partition.clone())
    } else if !table.schema().partition_keys.is_empty() && table.options().dynamic_partition_overwrite()? {
        Overwrite::Dynamic
    } else {
        Overwrite::Table
    };
    Box::pin(overwrite_once(table, &user, writer, target, messages)).await?;
    Ok(written)
}

/// Writes all rows; when that fails the writer's files go.
async fn feed(mut writer: TableWriter, mut rows: Rows) -> Result<(u64, TableWriter, Vec<CommitMessage>)> {
    let mut written = 0u64;
    let fed: Result<Vec<CommitMessage>> = async {
        while let Some(batch) = rows.next().await {
            let (batch, kinds) = batch?;
            writer.write(&batch, kinds.as_ref()).await?;
            written += batch.num_rows() as u64;
        }
        writer.prepare_commit(false).await
    }
    .await;
    match fed {
        Ok(messages) => Ok((written, writer, messages)),
        Err(e) => {
            if let Err(left) = writer.close().await {
                tracing::warn!("files of a failed statement may be left over: {left}");
            }
            Err(e)
        }
    }
}
