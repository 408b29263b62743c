//! Statement sets: INSERTs that run together. What their queries have in common runs once, the rows of all that go to one table
//! go through one writer, and each table gets one commit, when the rows of all are written.

use std::ops::ControlFlow;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, RecordBatch, StringArray};
use datafusion::execution::context::{SessionContext, SessionState};
use datafusion::logical_expr::{LogicalPlan, ScalarUDF};
use datafusion::physical_plan::{ExecutionPlan, displayable, execute_stream};
use datafusion::sql::parser::Statement as Wrapped;
use datafusion::sql::sqlparser::ast::{Statement as Ast, VisitMut};
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use linn::core::commit::CommitMessage;
use linn::core::write::TableWriter;
use linn::format::options::MergeEngine;
use linn::format::types::DataField;
use linn::{Error, Result, ResultExt, Table, commit_once};

use super::change::open_target;
use super::insert::{Source, fitted, sources};
use super::number::{self, TargetColumns};
use super::query::{Names, check, context, parse};
use super::show::rows;
use super::source::{self, Place};
use super::{cast, default, instant, literal};
use crate::error::ours;
use crate::parse::{Insert, PartitionValues, SetInsert, TableOptions};
use crate::session::{Output, Session, row_count};
use crate::share::share;

/// An INSERT on its way.
struct Job {
    /// What it is called in errors.
    name: String,
    /// Its table among the targets.
    target: usize,
    /// What its rows have for the columns of the table; those without are absent.
    columns: Vec<(DataField, Source)>,
    plan: Arc<dyn ExecutionPlan>,
}

/// The jobs of a set, the tables that they write to, and the plans that they share.
struct Planned {
    context: SessionContext,
    jobs: Vec<Job>,
    targets: Vec<Table>,
    shared: Vec<Arc<dyn ExecutionPlan>>,
}

pub(super) async fn run(session: &Session, inserts: Vec<SetInsert>, options: &TableOptions) -> Result<Output> {
    let planned = plan(session, inserts, options).await?;
    let mut jobs: Vec<Vec<Job>> = planned.targets.iter().map(|_| Vec::new()).collect();
    for job in planned.jobs {
        if let Some(jobs) = jobs.get_mut(job.target) {
            jobs.push(job);
        }
    }
    let task = planned.context.task_ctx();
    let writing = planned.targets.iter().zip(jobs).map(|(table, jobs)| write(table, jobs, Arc::clone(&task)));
    let written = settled(futures::future::join_all(writing).await).await?;
    let (mut total, mut words) = (0, Vec::new());
    let mut open = written.into_iter();
    while let Some(Written { table, user, writer, messages, rows }) = open.next() {
        if let Err(e) = commit_once(&table, &user, writer, messages).await {
            give_up(open).await;
            let e = e.with("table", table.name());
            return Err(if words.is_empty() { e } else { e.with("committed before", words.join(", ")) });
        }
        total += rows;
        words.push(format!("{rows} into {}", table.name()));
    }
    let message = format!("Inserted {}: {}.", row_count(total), words.join(", "));
    Ok(Output::Done { message, rows: Some(total) })
}

/// The plans of a set: what is shared, then the INSERTs.
pub(super) async fn explain(session: &Session, inserts: Vec<SetInsert>, options: &TableOptions) -> Result<Output> {
    let planned = plan(session, inserts, options).await?;
    let shown = |plan: &Arc<dyn ExecutionPlan>| displayable(plan.as_ref()).indent(false).to_string();
    let shared = (1..).zip(&planned.shared).map(|(number, plan)| (format!("shared {number}"), shown(plan)));
    let inserts = planned.jobs.iter().map(|job| (job.name.clone(), shown(&job.plan)));
    let (names, plans): (Vec<String>, Vec<String>) = shared.chain(inserts).unzip();
    rows(&["plan", "steps"], [names, plans])
}

/// An INSERT whose query is parsed.
struct Parsed {
    name: String,
    insert: Insert,
    target: usize,
    query: Ast,
    /// The columns that it is for.
    fields: Vec<DataField>,
    doubles: Vec<String>,
}

/// The tables of a set, and the names that its queries have for others.
#[derive(Default)]
struct Opened {
    targets: Vec<Table>,
    names: Names,
    /// The casts of their own that the queries make.
    casts: Vec<ScalarUDF>,
}

impl Opened {
    async fn parse(
        &mut self,
        session: &Session,
        name: String,
        insert: Insert,
        options: &TableOptions,
    ) -> Result<Parsed> {
        if insert.overwrite {
            return Err(Error::unsupported("INSERT OVERWRITE in a statement set").with_hint("run it by itself"));
        }
        let table = open_target(session, &insert.table, options).await?;
        let mut query = parse(insert.query.clone())?;
        let fields = named_fields(&table, &insert.columns, &insert.partition);
        let targets: Vec<&DataField> = fields.iter().collect();
        default::fill(&mut query, &targets)?;
        literal::fit_values(&mut query, &targets);
        check(session, &mut query)?;
        self.casts.extend(cast::own_casts(&mut query)?);
        let doubles = literal::prepare(&mut query);
        if let ControlFlow::Break(error) = query.visit(&mut self.names) {
            return Err(error);
        }
        let same = |other: &Table| {
            (other.path(), other.branch(), other.options()) == (table.path(), table.branch(), table.options())
        };
        let target = self.targets.iter().position(same).unwrap_or(self.targets.len());
        if target == self.targets.len() {
            self.targets.push(table);
        }
        Ok(Parsed { name, insert, target, query, fields, doubles })
    }
}

impl Parsed {
    /// The plan of the query, and what its rows have for the columns of the table.
    async fn plan(&self, state: &SessionState, targets: &[Table]) -> Result<(LogicalPlan, Vec<(DataField, Source)>)> {
        let plan = state.statement_to_plan(Wrapped::Statement(Box::new(self.query.clone()))).await.map_err(ours)?;
        let fields: Vec<&DataField> = self.fields.iter().collect();
        let plan = number::settle(plan, &TargetColumns::InOrder(&fields), &self.doubles).map_err(ours)?;
        let plan = instant::settle(plan).map_err(ours)?;
        let plan = state.analyzer().execute_and_check(plan, state.config_options(), |_, _| {}).map_err(ours)?;
        let table = targets.get(self.target).ok_or_else(|| Error::internal("a statement without a table"))?;
        let found = sources(table, &self.insert.columns, &self.insert.partition, plan.schema().inner())?;
        Ok((plan, present(table, found, &self.insert.partition)?))
    }
}

async fn plan(session: &Session, inserts: Vec<SetInsert>, options: &TableOptions) -> Result<Planned> {
    let mut opened = Opened::default();
    let mut parsed = Vec::with_capacity(inserts.len());
    for (number, SetInsert { insert, text }) in (1..).zip(inserts) {
        let name = format!("INSERT {number}: {}", short(&text));
        parsed.push(opened.parse(session, name.clone(), insert, options).await.with_statement(&name)?);
    }
    let Opened { targets, names, casts } = opened;
    one_commit_each(&targets)?;
    let (sources, database) = (source::Opened::default(), session.database());
    let place = Place { session, database: &database, opened: &sources, reads: options.reads(), depth: 0 };
    let context = context(place, &names, options, None).await?;
    casts.into_iter().for_each(|function| context.register_udf(function));
    let state = context.state();
    let (mut plans, mut columns) = (Vec::with_capacity(parsed.len()), Vec::with_capacity(parsed.len()));
    for one in &parsed {
        let (plan, present) = one.plan(&state, &targets).await.with_statement(&one.name)?;
        plans.push(plan);
        columns.push(present);
    }
    let parts = share(&mut plans).map_err(ours)?;
    let mut jobs = Vec::with_capacity(plans.len());
    for ((plan, columns), Parsed { name, target, .. }) in plans.iter().zip(columns).zip(parsed) {
        let plan = state.create_physical_plan(plan).await.map_err(ours).with_statement(&name)?;
        jobs.push(Job { name, target, columns, plan });
    }
    // Who reads them is planned by now.
    let mut shared = Vec::with_capacity(parts.len());
    for part in parts {
        shared.push(part.settle(&state).await.map_err(ours)?);
    }
    Ok(Planned { context, jobs, targets, shared })
}

/// The columns that the rows of an INSERT are for, in their order, as far as the table has them.
fn named_fields(table: &Table, columns: &[String], partition: &PartitionValues) -> Vec<DataField> {
    let names = super::insert::named(table, columns, partition);
    names.into_iter().filter_map(|name| table.schema().field(name)).cloned().collect()
}

/// A table that is named with different options would get several commits.
fn one_commit_each(targets: &[Table]) -> Result<()> {
    for (at, table) in targets.iter().enumerate() {
        if targets.iter().take(at).any(|other| other.path() == table.path() && other.branch() == table.branch()) {
            return Err(Error::unsupported("one table with different options in a statement set")
                .with("table", table.name())
                .with_hint("name it with the same options in each INSERT"));
        }
    }
    Ok(())
}

/// What rows have for the columns of a table. Where a merge keeps what it finds no value for, a default is no value: it would
/// overwrite what other sources have.
fn present(table: &Table, sources: Vec<Source>, partition: &PartitionValues) -> Result<Vec<(DataField, Source)>> {
    let merges = keeps_absent(table)?;
    let given = |(field, source): &(DataField, Source)| match source {
        Source::Column(_) => true,
        Source::Null => false,
        Source::Text(_) => !merges || !field.data_type.nullable || partition.iter().any(|(key, _)| *key == field.name),
    };
    Ok(table.visible_fields()?.into_iter().zip(sources).filter(given).collect())
}

fn keeps_absent(table: &Table) -> Result<bool> {
    let engine = table.options().merge_engine()?;
    Ok(table.schema().is_primary_key_table() && matches!(engine, MergeEngine::PartialUpdate | MergeEngine::Aggregate))
}

/// Whether it matters in which order the rows of these jobs come.
fn is_ordered(table: &Table, jobs: &[Job]) -> Result<bool> {
    if !table.schema().is_primary_key_table() {
        return Ok(false);
    }
    if !keeps_absent(table)? {
        return Ok(jobs.len() > 1 && table.options().sequence_fields().is_empty());
    }
    let keys = &table.schema().primary_keys;
    let mut seen = std::collections::HashSet::new();
    let values = jobs.iter().flat_map(|job| &job.columns).filter(|(field, _)| !keys.contains(&field.name));
    Ok(values.into_iter().any(|(field, _)| !seen.insert(field.id)))
}

/// Rows that wait for their commit.
struct Written {
    table: Table,
    user: String,
    writer: TableWriter,
    messages: Vec<CommitMessage>,
    rows: u64,
}

/// Writes the rows of all jobs of a table, the last job's last where that makes a difference.
async fn write(table: &Table, jobs: Vec<Job>, task: Arc<datafusion::execution::TaskContext>) -> Result<Written> {
    let user = table.new_user();
    let mut writer = table.batch_writer(&user).await?;
    let fed = async {
        let ordered = is_ordered(table, &jobs)?;
        let mut streams = Vec::with_capacity(jobs.len());
        for job in jobs {
            streams.push(stream(job, &task)?);
        }
        let mut all: BoxStream<'_, Result<RecordBatch>> = match ordered {
            true => futures::stream::iter(streams).flatten().boxed(),
            false => futures::stream::select_all(streams).boxed(),
        };
        let mut rows = 0;
        while let Some(batch) = all.try_next().await? {
            writer.write_some(&batch, None).await.context("table", table.name())?;
            rows += batch.num_rows() as u64;
        }
        drop(all);
        Ok((rows, writer.prepare_commit(false).await.context("table", table.name())?))
    };
    match fed.await {
        Ok((rows, messages)) => Ok(Written { table: table.clone(), user, writer, messages, rows }),
        Err(e) => {
            close(writer).await;
            Err(e)
        }
    }
}

/// The rows of a job: the columns that it has values for.
fn stream(job: Job, task: &Arc<datafusion::execution::TaskContext>) -> Result<BoxStream<'static, Result<RecordBatch>>> {
    let Job { name, columns, plan, .. } = job;
    let rows = execute_stream(plan, Arc::clone(task)).map_err(ours).with_statement(&name)?;
    let fields: Vec<DataField> = columns.iter().map(|(field, _)| field.clone()).collect();
    let shape = move |batch: RecordBatch| {
        let columns: Vec<ArrayRef> = columns
            .iter()
            .map(|(field, source)| {
                match source {
                    Source::Column(at) => batch.columns().get(*at).cloned(),
                    Source::Text(text) => {
                        Some(Arc::new(StringArray::from(vec![text.as_str(); batch.num_rows()])) as ArrayRef)
                    }
                    Source::Null => None,
                }
                .ok_or_else(|| Error::internal("a column without a source").with("column", &field.name))
            })
            .collect::<Result<_>>()?;
        fitted(columns.iter(), &fields)
    };
    Ok(rows.map(move |batch| batch.map_err(ours).and_then(&shape).with_statement(&name)).boxed())
}

/// All that was written, or nothing: when one failed, what the others wrote goes.
async fn settled(results: Vec<Result<Written>>) -> Result<Vec<Written>> {
    let (mut written, mut failed) = (Vec::new(), None);
    for result in results {
        match result {
            Ok(one) => written.push(one),
            // What fails because another one did says less.
            Err(e) => failed = failed.or(Some(e)),
        }
    }
    match failed {
        None => Ok(written),
        Some(e) => {
            give_up(written).await;
            Err(e)
        }
    }
}

/// Removes the files of what will not be committed.
async fn give_up(written: impl IntoIterator<Item = Written>) {
    for Written { table, user, writer, messages, .. } in written {
        if let Err(left) = table.committer(user).abort(&messages).await {
            tracing::warn!("files of a failed statement may be left over: {left}");
        }
        close(writer).await;
    }
}

async fn close(writer: TableWriter) {
    if let Err(left) = writer.close().await {
        tracing::warn!("files of a failed statement may be left over: {left}");
    }
}

fn short(text: &str) -> String {
    const LONGEST: usize = 80;
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Says which statement an error is of.
trait OfStatement<T> {
    fn with_statement(self, name: &str) -> Result<T>;
}

impl<T> OfStatement<T> for Result<T> {
    fn with_statement(self, name: &str) -> Result<T> {
        self.map_err(|e| e.with("statement", name))
    }
}
