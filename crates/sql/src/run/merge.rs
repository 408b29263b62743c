//! MERGE INTO: one join of target and source, from which every row gets its action.

use std::fmt::Write as _;
use std::sync::Arc;

use datafusion::arrow::array::{Array, AsArray, BooleanArray, Int8Array, Int32Array, RecordBatch};
use datafusion::arrow::compute::{cast, filter_record_batch, max};
use datafusion::arrow::datatypes::{DataType, Int64Type};
use datafusion::catalog::TableProvider;
use datafusion::prelude::DataFrame;
use datafusion::sql::sqlparser::ast::{
    Assignment, AssignmentTarget, Expr, Merge, MergeAction, MergeClause, MergeClauseKind, MergeInsertKind, TableFactor,
    TableWithJoins,
};
use futures::StreamExt;
use linn::format::types::{DataField, RowKind};
use linn::{Error, Result, Table};

use super::change::{assignments, query, target};
use super::default;
use super::effect;
use super::fit;
use super::insert::{fitted, write};
use super::number::TargetColumns;
use super::place::{self, Changed};
use super::query::frame_over;
use crate::error::ours;
use crate::names::quoted;
use crate::parse::{EVERY, TableOptions};
use crate::provider::{FILE, POSITION, PlacedTable};
use crate::session::{Output, Session};

const IN_TARGET: &str = "\"__linn_t\"";
const IN_SOURCE: &str = "\"__linn_s\"";

/// A MERGE that is planned: nothing is written until it runs.
pub(super) struct Merging {
    pub(super) table: Table,
    /// The rows with their actions.
    pub(super) rows: DataFrame,
    placed: Option<Arc<PlacedTable>>,
    /// What happens to a row, by the number of the action.
    kinds: Vec<RowKind>,
}

pub(super) async fn merge(session: &Session, merge: Merge, options: &TableOptions) -> Result<Merging> {
    let from = TableWithJoins { relation: merge.table.clone(), joins: Vec::new() };
    let (table, target_name) = target(session, &from, options).await?;
    let names = Names { target: called(&merge.table)?, source: called(&merge.source)? };
    let keyed = table.schema().is_primary_key_table();
    if keyed {
        merge.clauses.iter().try_for_each(|clause| takes_effect(&table, clause))?;
    }
    let sql = statement(&table, &merge, &names, &target_name)?;
    let kinds: Vec<RowKind> = merge.clauses.iter().map(|c| kind(&c.action)).collect();
    let placed = match keyed {
        true => None,
        false => Some(Arc::new(PlacedTable::open(table.clone()).await?)),
    };
    let target = placed.clone().map(|placed| -> Arc<dyn TableProvider> { placed });
    let rows = {
        let goals = TargetColumns::ByName(&table.schema().fields);
        frame_over(session, query(&sql)?, options, target, &goals).await?
    };
    Ok(Merging { table, rows, placed, kinds })
}

impl Merging {
    pub(super) async fn run(self) -> Result<Output> {
        let Self { table, rows, placed, kinds } = self;
        let fields = table.visible_fields()?;
        let rows = rows.execute_stream().await.map_err(ours)?;
        let written = match &placed {
            None => {
                let target = table.clone();
                let rows = rows.map(move |batch| {
                    let batch = chosen(&batch.map_err(ours)?)?;
                    let acted = act(&batch, &fields, &kinds)?;
                    let is_delete = |kind: Option<i8>| kind == Some(RowKind::Delete.as_byte() as i8);
                    let deleted: BooleanArray = acted.kinds.iter().map(|kind| Some(is_delete(kind))).collect();
                    effect::removes(&target, &filter_record_batch(&acted.rows, &deleted)?)?;
                    Ok((acted.rows, Some(acted.kinds)))
                });
                write(&table, rows.boxed()).await?
            }
            Some(placed) => {
                let changes = rows.map(move |batch| places(&chosen(&batch.map_err(ours)?)?, &fields, &kinds));
                place::change(&table, placed, "MERGE", changes.boxed()).await?
            }
        };
        Ok(Output::wrote("Merged", written, format!("into {}", table.name())))
    }
}

struct Names {
    target: String,
    source: String,
}

/// The merge engine makes of rows what the action says.
fn takes_effect(table: &Table, clause: &MergeClause) -> Result<()> {
    match &clause.action {
        MergeAction::Insert(_) => Ok(()),
        MergeAction::Delete { .. } => effect::deletes(table),
        MergeAction::Update(update) if is_every(&update.assignments) => {
            effect::updates(table, table.schema().fields.iter().map(|f| f.name.as_str()))
        }
        MergeAction::Update(update) => {
            let assigned = assignments(table, &update.assignments)?;
            effect::updates(table, assigned.iter().map(|(name, _)| name.as_str()))
        }
    }
}

/// What a table is called in the statement's expressions.
fn called(factor: &TableFactor) -> Result<String> {
    match factor {
        TableFactor::Table { alias: Some(alias), .. } | TableFactor::Derived { alias: Some(alias), .. } => {
            Ok(quoted(&alias.name.value))
        }
        TableFactor::Table { name, .. } => {
            let last = name.0.last().and_then(|p| p.as_ident()).map(|i| i.value.as_str()).unwrap_or_default();
            Ok(quoted(last.split('\u{1}').next().unwrap_or_default()))
        }
        _ => Err(Error::invalid("SQL: MERGE needs tables, or queries with an alias")),
    }
}

fn kind(action: &MergeAction) -> RowKind {
    match action {
        MergeAction::Insert(_) => RowKind::Insert,
        MergeAction::Update(_) => RowKind::UpdateAfter,
        MergeAction::Delete { .. } => RowKind::Delete,
    }
}

fn statement(table: &Table, merge: &Merge, names: &Names, target_name: &str) -> Result<String> {
    let schema = table.schema();
    let (t, s) = (&names.target, &names.source);
    let mut action = String::from("CASE");
    for (number, clause) in merge.clauses.iter().enumerate() {
        let _ = write!(action, " WHEN {} THEN {number}", condition(clause, t, s));
    }
    action.push_str(" END");
    let mut columns = String::new();
    for (at, field) in schema.fields.iter().enumerate() {
        let _ = write!(columns, ", CASE {action}");
        for (number, clause) in merge.clauses.iter().enumerate() {
            // Each value by itself: together they would be brought to a type that may hold none of them.
            let (fit, value) = (quoted(&fit::name(at)), value(table, clause, field, names)?);
            let _ = write!(columns, " WHEN {number} THEN {fit}({value})");
        }
        let _ = write!(columns, " END AS {}", quoted(&field.name));
    }
    let of_target = |name: &str| format!("{t}.{}", quoted(name));
    // What tells rows of the target apart.
    let keys: Vec<String> = match schema.is_primary_key_table() {
        true => schema.primary_keys.iter().map(|k| of_target(k)).collect(),
        false => vec![of_target(FILE), of_target(POSITION)],
    };
    if !schema.is_primary_key_table() {
        let _ = write!(columns, ", {}, {}", of_target(FILE), of_target(POSITION));
    }
    let has = |kind: fn(&MergeClauseKind) -> bool| merge.clauses.iter().any(|c| kind(&c.clause_kind));
    let lost = has(|k| matches!(k, MergeClauseKind::NotMatchedBySource));
    let new = has(|k| matches!(k, MergeClauseKind::NotMatched | MergeClauseKind::NotMatchedByTarget));
    let join = match (lost, new) {
        (true, _) => "FULL",
        (false, true) => "RIGHT",
        (false, false) => "INNER",
    };
    let source = &merge.source;
    Ok(format!(
        "SELECT CAST({action} AS INT), CASE WHEN {t}.{IN_TARGET} AND {s}.{IN_SOURCE} THEN \
         COUNT(*) OVER (PARTITION BY {keys}) ELSE 1 END{columns} \
         FROM (SELECT *, TRUE AS {IN_TARGET} FROM {target_name}) AS {t} \
         {join} JOIN (SELECT *, TRUE AS {IN_SOURCE} FROM {source}) AS {s} ON {on}",
        keys = keys.join(", "),
        on = merge.on,
    ))
}

fn condition(clause: &MergeClause, t: &str, s: &str) -> String {
    let base = match clause.clause_kind {
        MergeClauseKind::Matched => format!("{t}.{IN_TARGET} AND {s}.{IN_SOURCE}"),
        MergeClauseKind::NotMatched | MergeClauseKind::NotMatchedByTarget => format!("{t}.{IN_TARGET} IS NULL"),
        MergeClauseKind::NotMatchedBySource => format!("{s}.{IN_SOURCE} IS NULL"),
    };
    match &clause.predicate {
        Some(predicate) => format!("{base} AND ({predicate})"),
        None => base,
    }
}

/// What a clause makes of a column.
fn value(table: &Table, clause: &MergeClause, field: &DataField, names: &Names) -> Result<String> {
    let kept = format!("{}.{}", names.target, quoted(&field.name));
    let given = format!("{}.{}", names.source, quoted(&field.name));
    match &clause.action {
        MergeAction::Delete { .. } => Ok(effect::of_deleted(table, field).unwrap_or(kept)),
        MergeAction::Update(update) => {
            if update.update_predicate.is_some() || update.delete_predicate.is_some() {
                return Err(condition_inside());
            }
            if is_every(&update.assignments) {
                // A row keeps its key and its partition: with others it would be another row.
                let keys = [&table.schema().primary_keys, &table.schema().partition_keys];
                let key = keys.iter().any(|names| names.contains(&field.name));
                return Ok(if key { kept } else { given });
            }
            let assigned = assignments(table, &update.assignments)?;
            Ok(match assigned.iter().find(|(n, _)| *n == field.name) {
                Some((_, value)) => default::value(value, field),
                None => effect::left_alone(table, field).map_or(kept, str::to_owned),
            })
        }
        MergeAction::Insert(insert) => {
            if insert.insert_predicate.is_some() {
                return Err(condition_inside());
            }
            let MergeInsertKind::Values(values) = &insert.kind else { return Ok(given) };
            let [row] = values.rows.as_slice() else {
                return Err(Error::invalid("SQL: INSERT in MERGE takes one row of VALUES"));
            };
            inserted(table, &insert.columns, row.as_ref(), field)
        }
    }
}

fn condition_inside() -> Error {
    Error::unsupported("WHERE inside of an action of MERGE").with_hint("use WHEN … AND …")
}

/// Whether this is `SET *`.
fn is_every(assignments: &[Assignment]) -> bool {
    matches!(assignments, [Assignment { target: AssignmentTarget::ColumnName(name), .. }]
        if name.0.last().and_then(|part| part.as_ident()).is_some_and(|ident| ident.value == EVERY))
}

fn inserted(
    table: &Table,
    columns: &[datafusion::sql::sqlparser::ast::ObjectName],
    row: &[Expr],
    field: &DataField,
) -> Result<String> {
    let names: Vec<String> = if columns.is_empty() {
        table.schema().fields.iter().map(|f| f.name.clone()).collect()
    } else {
        columns.iter().filter_map(|c| c.0.last()?.as_ident()).map(|i| i.value.clone()).collect()
    };
    if names.len() != row.len() {
        return Err(Error::invalid(format!("SQL: {} values for {} columns", row.len(), names.len())));
    }
    if let Some(name) = names.iter().find(|n| table.schema().field(n).is_none()) {
        return Err(Error::invalid("the table has no such column").with("table", table.name()).with("column", name));
    }
    Ok(match names.iter().position(|n| *n == field.name).and_then(|at| row.get(at)) {
        Some(value) => default::value(value, field),
        None => default::sql(field),
    })
}

/// The rows of a batch that have an action.
fn chosen(batch: &RecordBatch) -> Result<RecordBatch> {
    let actions = batch.column(0);
    let chosen: BooleanArray = (0..actions.len()).map(|i| Some(actions.is_valid(i))).collect();
    let batch = filter_record_batch(batch, &chosen)?;
    let matches = cast(batch.column(1), &DataType::Int64)?;
    if max(matches.as_primitive::<Int64Type>()).is_some_and(|most| most > 1) {
        return Err(Error::invalid("MERGE matches a row of the target with several rows of the source")
            .with_hint("make the source unique in the columns of ON"));
    }
    Ok(batch)
}

/// Rows and what happens to them.
struct Acted {
    rows: RecordBatch,
    kinds: Int8Array,
}

/// What the actions make of chosen rows.
fn act(batch: &RecordBatch, fields: &[DataField], kinds: &[RowKind]) -> Result<Acted> {
    let actions = batch.column(0).as_any().downcast_ref::<Int32Array>();
    let actions = actions.ok_or_else(|| Error::internal("the action is not an INT"))?;
    let kinds: Int8Array = actions
        .values()
        .iter()
        .map(|&a| usize::try_from(a).ok().and_then(|a| kinds.get(a)).map(|k| k.as_byte() as i8))
        .collect();
    let columns = batch.columns().get(2..2 + fields.len());
    let columns = columns.ok_or_else(|| Error::internal("a merge returned too few columns"))?;
    Ok(Acted { rows: fitted(columns.iter(), fields)?, kinds })
}

/// The same for a table without a primary key: which rows go from their places, and which are appended.
fn places(batch: &RecordBatch, fields: &[DataField], kinds: &[RowKind]) -> Result<Changed> {
    let acted = act(batch, fields, kinds)?;
    let rows = batch.num_rows() as u64;
    let is = |kind: RowKind| kind.as_byte() as i8;
    let (insert, delete) = (is(RowKind::Insert), is(RowKind::Delete));
    let of = |keep: &dyn Fn(i8) -> bool| acted.kinds.iter().map(|kind| Some(kind.is_some_and(keep))).collect();
    let (added, gone): (BooleanArray, BooleanArray) = (of(&|kind| kind != delete), of(&|kind| kind != insert));
    let places = batch.project(&[2 + fields.len(), 3 + fields.len()])?;
    Ok(Changed {
        added: Some(filter_record_batch(&acted.rows, &added)?),
        gone: Some(filter_record_batch(&places, &gone)?),
        rows,
    })
}
