//! A part of several plans that runs once: a table for those who read it, and the plan behind it.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use async_trait::async_trait;
use datafusion::arrow::array::{RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::{Field, Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::runtime::SpawnedTask;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::context::SessionState;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::utils::{conjunction, disjunction};
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, TableProviderFilterPushDown, TableType, col};
use datafusion::physical_expr::{EquivalenceProperties, Partitioning, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, SpillMetrics};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, SpillManager, execute_stream,
};
use futures::StreamExt;

use super::log::{Log, Reader, Spill};

/// Bytes of rows that wait for slower readers in memory.
const WAITING_BYTES: usize = 64 << 20;

/// A part of plans, and who reads what of it.
pub(crate) struct Shared {
    name: String,
    /// What is shared; its columns go by the names of `schema`.
    plan: OnceLock<LogicalPlan>,
    schema: SchemaRef,
    wanted: Mutex<Vec<Wanted>>,
    source: OnceLock<Source>,
    log: Arc<OnceLock<Arc<Log>>>,
    task: Mutex<Option<SpawnedTask<()>>>,
}

/// What one reader takes.
struct Wanted {
    columns: Vec<usize>,
    filter: Option<Expr>,
}

/// The plan that runs, and which columns it gives.
struct Source {
    plan: Arc<dyn ExecutionPlan>,
    columns: Vec<usize>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("name", &self.name).finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The name of a column of what is shared.
pub(super) fn column_name(at: usize) -> String {
    format!("c{at}")
}

impl Shared {
    pub(super) fn new(name: String, plan: &LogicalPlan) -> Arc<Self> {
        let fields = plan.schema().fields().iter().enumerate();
        let fields: Vec<Field> = fields.map(|(at, field)| field.as_ref().clone().with_name(column_name(at))).collect();
        Arc::new(Self {
            name,
            plan: OnceLock::new(),
            schema: Arc::new(Schema::new(fields)),
            wanted: Mutex::default(),
            source: OnceLock::new(),
            log: Arc::default(),
            task: Mutex::default(),
        })
    }

    /// What it is called in plans.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Says what is shared, once it is known what that shares with others.
    pub(super) fn set_plan(&self, plan: LogicalPlan) {
        self.plan.get_or_init(|| plan);
    }

    /// Plans what is shared: the columns that some reader takes, of the rows that some reader takes. All who read it have been
    /// planned before. The plan, to be shown.
    pub(crate) async fn settle(&self, state: &SessionState) -> Result<Arc<dyn ExecutionPlan>> {
        let (columns, filter) = self.needed();
        let missing = || DataFusionError::Internal("a shared plan is not known".to_owned());
        let shared = self.plan.get().ok_or_else(missing)?;
        let all = shared.schema().iter().enumerate();
        let all = all.map(|(at, column)| Expr::from(column).alias(column_name(at)));
        let mut plan = LogicalPlanBuilder::from(shared.clone()).project(all)?;
        if let Some(filter) = filter {
            plan = plan.filter(filter)?;
        }
        let plan = plan.project(columns.iter().map(|&at| col(column_name(at))))?.build()?;
        let plan = state.create_physical_plan(&plan).await?;
        let source = Source { plan: Arc::clone(&plan), columns };
        self.source.set(source).map_err(|_| DataFusionError::Internal("a shared plan was planned twice".to_owned()))?;
        Ok(plan)
    }

    fn needed(&self) -> (Vec<usize>, Option<Expr>) {
        let wanted = lock(&self.wanted);
        let mut columns: Vec<usize> = wanted.iter().flat_map(|wanted| wanted.columns.iter().copied()).collect();
        columns.sort_unstable();
        columns.dedup();
        let filters: Option<Vec<Expr>> = wanted.iter().map(|wanted| wanted.filter.clone()).collect();
        (columns, filters.and_then(disjunction))
    }

    /// The log of the rows; the first who asks for it starts the plan.
    fn start(&self, context: &Arc<TaskContext>) -> Result<Arc<Log>> {
        let mut task = lock(&self.task);
        if let Some(log) = self.log.get() {
            return Ok(Arc::clone(log));
        }
        let source = self.source()?;
        let rows = execute_stream(Arc::clone(&source.plan), Arc::clone(context))?;
        let metrics = SpillMetrics::new(&ExecutionPlanMetricsSet::new(), 0);
        let manager = SpillManager::new(context.runtime_env(), metrics, source.plan.schema());
        let log = Log::new(lock(&self.wanted).len(), Spill { manager, limit: WAITING_BYTES });
        *task = Some(SpawnedTask::spawn(Arc::clone(&log).fill(rows)));
        Ok(Arc::clone(self.log.get_or_init(|| log)))
    }

    fn source(&self) -> Result<&Source> {
        self.source.get().ok_or_else(|| DataFusionError::Internal("a shared plan was not planned".to_owned()))
    }
}

/// What is shared, as a table.
#[derive(Debug)]
pub(super) struct SharedTable(pub(super) Arc<Shared>);

#[async_trait]
impl TableProvider for SharedTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.0.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Temporary
    }

    async fn scan(
        &self,
        _state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        _limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let shared = &self.0;
        let columns = projection.cloned().unwrap_or_else(|| (0..shared.schema.fields().len()).collect());
        let schema = Arc::new(shared.schema.project(&columns)?);
        let mut wanted = lock(&shared.wanted);
        let number = wanted.len();
        let filter = conjunction(filters.iter().cloned());
        wanted.push(Wanted { columns: columns.clone(), filter });
        let reader = Arc::new(Reader { number, log: Arc::clone(&shared.log) });
        let properties = PlanProperties::new(
            EquivalenceProperties::new(schema),
            Partitioning::UnknownPartitioning(1),
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        let reader = Mutex::new(Some(reader));
        Ok(Arc::new(SharedExec { shared: Arc::clone(shared), columns, reader, properties: Arc::new(properties) }))
    }

    /// Rows that no reader takes are left out; each reader leaves out those that others take.
    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        let kind = |filter: &&Expr| match filter.is_volatile() {
            true => TableProviderFilterPushDown::Unsupported,
            false => TableProviderFilterPushDown::Inexact,
        };
        Ok(filters.iter().map(kind).collect())
    }
}

/// The rows of what is shared for one who reads it.
#[derive(Debug)]
struct SharedExec {
    shared: Arc<Shared>,
    columns: Vec<usize>,
    /// Until the rows are taken.
    reader: Mutex<Option<Arc<Reader>>>,
    properties: Arc<PlanProperties>,
}

impl DisplayAs for SharedExec {
    fn fmt_as(&self, _t: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Shared: {}", self.shared.name)
    }
}

impl ExecutionPlan for SharedExec {
    fn name(&self) -> &'static str {
        "Shared"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(
        &self,
        _f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, _children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn execute(&self, _partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let taken = || DataFusionError::Internal("the rows of a shared plan were taken twice".to_owned());
        let reader = lock(&self.reader).take().ok_or_else(taken)?;
        let source = self.shared.source()?;
        let place = |at: &usize| {
            let place = source.columns.binary_search(at);
            place.map_err(|_| DataFusionError::Internal("a shared plan lacks a column".to_owned()))
        };
        let places = self.columns.iter().map(place).collect::<Result<Vec<_>>>()?;
        let schema = Arc::clone(self.properties.equivalence_properties().schema());
        let given = Arc::clone(&schema);
        // What is shared lives as long as somebody reads it.
        let shared = Arc::clone(&self.shared);
        let rows = self.shared.start(&context)?.read(reader).map(move |batch| {
            let (batch, _) = (batch?, &shared);
            let columns = places.iter().filter_map(|&at| batch.columns().get(at)).cloned().collect();
            let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
            Ok(RecordBatch::try_new_with_options(Arc::clone(&given), columns, &options)?)
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
    }
}
