//! UPDATE and DELETE: a query for the rows. Those of primary-key tables are written back as updates and retractions, others
//! are deleted where they stand.

use std::sync::Arc;

use datafusion::arrow::array::{Int8Array, RecordBatch};
use datafusion::arrow::datatypes::Schema;
use datafusion::catalog::TableProvider;
use datafusion::common::{Column, JoinType};
use datafusion::logical_expr::Expr as Expression;
use datafusion::prelude::DataFrame;
use datafusion::sql::sqlparser::ast::{
    Assignment, AssignmentTarget, Delete, Expr, FromTable, Statement as Ast, TableFactor, TableWithJoins, Update,
};
use datafusion::sql::sqlparser::tokenizer::TokenWithSpan;
use futures::StreamExt;
use linn::format::options::Isolation;
use linn::format::types::RowKind;
use linn::{Error, ErrorKind, Identifier, Result, Table};

use super::default;
use super::effect;
use super::insert::{fitted, write};
use super::isolation;
use super::number::TargetColumns;
use super::place::{self, Changed};
use super::query::{frame, frame_over};
use super::source::suggested;
use crate::error::ours;
use crate::names::quoted;
use crate::parse::TableOptions;
use crate::provider::{FILE, POSITION, PlacedTable, TARGET, noting, open_table};
use crate::session::{Output, Session};

/// An UPDATE or DELETE that is planned: nothing is written until it runs.
pub(super) struct Changing {
    pub(super) table: Table,
    /// The rows that change: where they stand, if they are changed there, then the new columns.
    pub(super) rows: DataFrame,
    placed: Option<Arc<PlacedTable>>,
    kind: RowKind,
}

impl Changing {
    pub(super) async fn run(self) -> Result<Output> {
        let Self { table, rows, placed, kind } = self;
        let written = match placed {
            Some(placed) => in_place(&table, &placed, rows, kind).await?,
            None => write_back(&table, rows, kind).await?,
        };
        let (verb, place) = if kind == RowKind::Delete { ("Deleted", "from") } else { ("Updated", "in") };
        Ok(Output::wrote(verb, written, format!("{place} {}", table.name())))
    }
}

pub(super) async fn delete(session: &Session, delete: Delete, options: &TableOptions) -> Result<Changing> {
    let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
    let [from] = from.as_slice() else { return Err(Error::unsupported("DELETE from several tables")) };
    if delete.using.is_some() || !delete.tables.is_empty() || delete.limit.is_some() {
        return Err(Error::unsupported("DELETE with USING, LIMIT or a list of tables"));
    }
    let (table, name) = target(session, from, options).await?;
    let columns = match table.schema().is_primary_key_table() {
        true => {
            effect::deletes(&table)?;
            effect::deleted_columns(&table)
        }
        false => Vec::new(),
    };
    let condition = delete.selection.as_ref();
    let chosen = Chosen { table, name: &name, columns: &columns, condition, kind: RowKind::Delete };
    chosen.planned(session, options).await
}

pub(super) async fn update(session: &Session, update: Update, options: &TableOptions) -> Result<Changing> {
    if update.from.is_some() {
        return Err(Error::unsupported("UPDATE with FROM").with_hint("use MERGE INTO"));
    }
    let (table, name) = target(session, &update.table, options).await?;
    let assigned = assignments(&table, &update.assignments)?;
    effect::updates(&table, assigned.iter().map(|(name, _)| name.as_str()))?;
    let columns: Vec<String> = table
        .schema()
        .fields
        .iter()
        .map(|f| match (assigned.iter().find(|(name, _)| *name == f.name), effect::left_alone(&table, f)) {
            (Some((_, value)), _) => format!("{} AS {}", default::value(value, f), quoted(&f.name)),
            (None, Some(value)) => format!("{value} AS {}", quoted(&f.name)),
            (None, None) => quoted(&f.name),
        })
        .collect();
    let condition = update.selection.as_ref();
    let chosen = Chosen { table, name: &name, columns: &columns, condition, kind: RowKind::UpdateAfter };
    chosen.planned(session, options).await
}

/// The assigned columns and their expressions. Keys cannot be assigned: that would be another row.
pub(super) fn assignments<'a>(table: &Table, assignments: &'a [Assignment]) -> Result<Vec<(String, &'a Expr)>> {
    let schema = table.schema();
    assignments
        .iter()
        .map(|assignment| {
            let AssignmentTarget::ColumnName(name) = &assignment.target else {
                return Err(Error::unsupported("assigning several columns at once"));
            };
            let name = name.0.last().and_then(|p| p.as_ident()).map(|i| i.value.clone()).unwrap_or_default();
            let error = |what| Err(Error::invalid(what).with("table", table.name()).with("column", &name));
            if schema.field(&name).is_none() {
                return error("the table has no such column");
            }
            if schema.primary_keys.contains(&name) || schema.partition_keys.contains(&name) {
                return error("a primary key or partition column cannot be updated");
            }
            Ok((name, &assignment.value))
        })
        .collect()
}

/// Deletes the rows whose keys are in these batches, which have the columns of the primary key in its order.
pub(crate) async fn delete_keys(session: &Session, id: &Identifier, keys: Vec<RecordBatch>) -> Result<u64> {
    isolation::again(&TableOptions::default(), |options| {
        let keys = keys.clone();
        Box::pin(async move { try_delete_keys(session, id, keys, &options).await })
    })
    .await
}

/// How many rows have keys that are in these batches.
pub(crate) async fn count_keys(session: &Session, id: &Identifier, keys: Vec<RecordBatch>) -> Result<u64> {
    match of_keys(session, id, keys, &TableOptions::default()).await? {
        Some((_, rows)) => Ok(rows.count().await.map_err(ours)? as u64),
        None => Ok(0),
    }
}

async fn try_delete_keys(
    session: &Session,
    id: &Identifier,
    keys: Vec<RecordBatch>,
    options: &TableOptions,
) -> Result<u64> {
    match of_keys(session, id, keys, options).await? {
        Some((table, rows)) => write_back(&table, rows, RowKind::Delete).await,
        None => Ok(0),
    }
}

/// The rows whose keys are in these batches, and their table; nothing without a key.
async fn of_keys(
    session: &Session,
    id: &Identifier,
    keys: Vec<RecordBatch>,
    options: &TableOptions,
) -> Result<Option<(Table, DataFrame)>> {
    let table = noting(session.catalog().table(id).await?, options.reads())?;
    // A key that was not there may come later: then it comes after this.
    let level = if table.options().isolation()? == Isolation::None { Isolation::None } else { Isolation::Snapshot };
    let table = table.with_options(&[("linn.isolation-level", level.as_str())].into_iter().collect())?;
    if !table.schema().is_primary_key_table() {
        return Err(Error::invalid("rows have no keys in a table without a primary key").with("table", id));
    }
    effect::deletes(&table)?;
    let Some(first) = keys.first() else { return Ok(None) };
    // The names differ from the table's, so that neither side needs a qualifier.
    let names = table.schema().primary_keys.iter().map(|name| (name, format!("\u{1}{name}")));
    let fields: Vec<_> = first
        .schema()
        .fields()
        .iter()
        .zip(names.clone())
        .map(|(field, (_, renamed))| field.as_ref().clone().with_name(renamed))
        .collect();
    let schema = Arc::new(Schema::new(fields));
    let keys = keys.iter().map(|batch| Ok(RecordBatch::try_new(Arc::clone(&schema), batch.columns().to_vec())?));
    let keys = session.context().read_batches(keys.collect::<Result<Vec<_>>>()?).map_err(ours)?;
    let name = format!("{}.{}", quoted(&id.database), quoted(&id.table));
    let columns = effect::deleted_columns(&table).join(", ");
    let all = frame(session, query(&format!("SELECT {columns} FROM {name}"))?, options).await?;
    let column = |name: &str| Expression::Column(Column::from_name(name));
    let on: Vec<Expression> = names.map(|(name, renamed)| column(name).eq(column(&renamed))).collect();
    let rows = all.join_on(keys, JoinType::LeftSemi, on).map_err(ours)?;
    Ok(Some((table, rows)))
}

/// Opens the target of a change, and says how a query names it: a table without a primary key is read with the places of
/// its rows.
pub(super) async fn target(
    session: &Session,
    from: &TableWithJoins,
    options: &TableOptions,
) -> Result<(Table, String)> {
    let TableFactor::Table { name, alias, .. } = &from.relation else {
        return Err(Error::invalid("this needs a table"));
    };
    if !from.joins.is_empty() {
        return Err(Error::unsupported("changing a join").with_hint("use MERGE INTO"));
    }
    let parts: Vec<String> = name.0.iter().filter_map(|p| p.as_ident()).map(|i| i.value.clone()).collect();
    let table = open_target(session, &parts, options).await?;
    let plain: Vec<String> = parts.iter().map(|part| options.unmark(part).0.to_owned()).collect();
    session.settings().writable(&session.identifier(&plain)?)?;
    let bare = parts.last().map(|last| options.unmark(last).0).unwrap_or_default();
    let called = match (alias, table.schema().is_primary_key_table()) {
        (Some(alias), true) => format!("{name} AS {}", alias.name),
        (None, true) => name.to_string(),
        (Some(alias), false) => format!("{} AS {}", quoted(TARGET), alias.name),
        (None, false) => format!("{} AS {}", quoted(TARGET), quoted(bare)),
    };
    Ok((table, called))
}

/// Opens the table that a statement writes to, with the options given to it there.
pub(super) async fn open_target(session: &Session, parts: &[String], options: &TableOptions) -> Result<Table> {
    let (mut parts, mut given) = (parts.to_vec(), None);
    if let Some(last) = parts.last_mut() {
        let (plain, found) = options.unmark(last);
        given = found.cloned();
        *last = plain.to_owned();
    }
    let id = session.identifier(&parts)?;
    if let Some(system) = &id.system {
        return Err(Error::invalid(format!("{system} is a system table, which cannot be written")).with("table", &id));
    }
    let given = session.settings().of(&id, given.as_ref());
    match open_table(session.catalog(), &id, given.as_ref()).await {
        Err(e) if e.kind() == ErrorKind::NotFound => Err(suggested(session, &id, e).await),
        table => noting(table?, options.reads()),
    }
}

/// Rows of a table that are to change.
struct Chosen<'a> {
    table: Table,
    /// How a query names the table.
    name: &'a str,
    /// What replaces a row, column by column.
    columns: &'a [String],
    condition: Option<&'a Expr>,
    kind: RowKind,
}

impl Chosen<'_> {
    async fn planned(self, session: &Session, options: &TableOptions) -> Result<Changing> {
        let Self { table, name, columns, condition, kind } = self;
        let placed = match table.schema().is_primary_key_table() {
            true => None,
            false => Some(Arc::new(PlacedTable::open(table.clone()).await?)),
        };
        let places = if placed.is_some() { vec![quoted(FILE), quoted(POSITION)] } else { Vec::new() };
        let selected: Vec<&str> = places.iter().chain(columns).map(String::as_str).collect();
        let mut sql = format!("SELECT {} FROM {name}", selected.join(", "));
        if let Some(condition) = condition {
            sql.push_str(&format!(" WHERE {condition}"));
        }
        let target = placed.clone().map(|placed| -> Arc<dyn TableProvider> { placed });
        let rows = {
            let goals = TargetColumns::ByName(&table.schema().fields);
            frame_over(session, query(&sql)?, options, target, &goals).await?
        };
        Ok(Changing { table, rows, placed, kind })
    }
}

/// Deletes rows where they stand, and appends what replaces them.
async fn in_place(table: &Table, placed: &Arc<PlacedTable>, rows: DataFrame, kind: RowKind) -> Result<u64> {
    let rows = rows.execute_stream().await.map_err(ours)?;
    let fields = table.visible_fields()?;
    let updates = kind != RowKind::Delete;
    let changes = rows.map(move |batch| {
        let batch = batch.map_err(ours)?;
        let added = match updates {
            true => Some(fitted(batch.columns().get(2..).unwrap_or_default().iter(), &fields)?),
            false => None,
        };
        Ok(Changed { added, gone: Some(batch.project(&[0, 1])?), rows: batch.num_rows() as u64 })
    });
    place::change(table, placed, if updates { "UPDATE" } else { "DELETE" }, changes.boxed()).await
}

/// Writes the rows of a query with the table's columns back to it.
async fn write_back(table: &Table, rows: DataFrame, kind: RowKind) -> Result<u64> {
    let rows = rows.execute_stream().await.map_err(ours)?;
    let (fields, target) = (table.visible_fields()?, table.clone());
    let rows = rows.map(move |batch| {
        let batch = batch.map_err(ours)?;
        let kinds = Int8Array::from(vec![kind.as_byte() as i8; batch.num_rows()]);
        let batch = fitted(batch.columns().iter(), &fields)?;
        if kind == RowKind::Delete {
            effect::removes(&target, &batch)?;
        }
        Ok((batch, Some(kinds)))
    });
    write(table, rows.boxed()).await
}

/// Parses a query that was put together from parts of a parsed statement.
pub(super) fn query(sql: &str) -> Result<Ast> {
    let mut statements = crate::parse::split(sql)?;
    match statements.pop() {
        // Where a token stands in this text says nothing about the statement's.
        Some(tokens) => super::query::parse(tokens.into_iter().map(|t| TokenWithSpan::wrap(t.token)).collect()),
        None => Err(Error::internal("an empty query")),
    }
}
