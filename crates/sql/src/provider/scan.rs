//! The physical scan: splits dealt to partitions, each read as a stream.

use std::fmt;
use std::sync::Arc;

use datafusion::arrow::compute::SortOptions;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::Statistics;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::Result as DfResult;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{EquivalenceProperties, LexOrdering, Partitioning, PhysicalExpr, PhysicalSortExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::filter_pushdown::{ChildPushdownResult, FilterPushdownPhase, FilterPushdownPropagation};
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, MetricBuilder, MetricsSet};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use futures::{StreamExt, TryStreamExt};
use linn::core::branch::Layer;
use linn::core::read::Read;
use linn::core::scan::Content;
use linn::core::system::ChangeLog;
use linn::format::BatchStream;
use linn::format::types::{DataField, Kind};
use linn::{Result, Split, Table};

use super::dynamic::DynamicFilters;
use super::filter::all;
use super::partition::Taken;
use super::pruned::Pruned;
use super::reading::Reading;
use super::statistics::statistics;
use crate::error::theirs;

/// Reads some columns of the splits of one snapshot.
#[derive(Debug, Clone)]
pub(crate) struct ScanExec {
    name: String,
    rows: Rows,
    partitions: Arc<Vec<Vec<Split>>>,
    /// The filters that hold for all rows, as text.
    condition: String,
    pruned: Pruned,
    /// What is asked of partitions while the query runs.
    dynamic: DynamicFilters,
    properties: Arc<PlanProperties>,
    statistics: Arc<Statistics>,
    metrics: ExecutionPlanMetricsSet,
}

/// What is read of a split.
#[derive(Debug, Clone)]
enum Rows {
    /// Rows of the table.
    Table(Read),
    /// Rows of its audit log or binlog.
    Log(ChangeLog),
}

impl Rows {
    fn schema(&self) -> &SchemaRef {
        match self {
            Self::Table(read) => read.schema(),
            Self::Log(log) => log.schema(),
        }
    }

    async fn stream(&self, split: &Split) -> Result<BatchStream> {
        match self {
            Self::Table(read) => read.stream(split).await,
            Self::Log(log) => log.stream(split),
        }
    }
}

impl ScanExec {
    /// Plans a scan of a log: filters leave out files, not rows.
    pub(super) async fn plan_log(name: &str, log: ChangeLog, taken: Taken, target: usize) -> Result<Self> {
        let pruned = Pruned::of(&taken);
        let scan = pruned.tallied(log.scan(all(taken.scan)));
        let partitions = deal(scan.plan().await?.splits, target.max(1));
        let schema = Arc::clone(log.schema());
        let statistics = Arc::new(Statistics::new_unknown(&schema));
        let equivalence = EquivalenceProperties::new(schema);
        let dynamic = DynamicFilters::nothing();
        Ok(Self::of(name, Rows::Log(log), partitions, equivalence, statistics, dynamic).pruned(pruned))
    }

    fn of(
        name: &str,
        rows: Rows,
        partitions: Vec<Vec<Split>>,
        equivalence: EquivalenceProperties,
        statistics: Arc<Statistics>,
        dynamic: DynamicFilters,
    ) -> Self {
        let properties = PlanProperties::new(
            equivalence,
            Partitioning::UnknownPartitioning(partitions.len()),
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        Self {
            name: name.to_owned(),
            rows,
            partitions: Arc::new(partitions),
            condition: String::new(),
            pruned: Pruned::default(),
            dynamic,
            properties: Arc::new(properties),
            statistics,
            metrics: ExecutionPlanMetricsSet::new(),
        }
    }

    /// Plans the scan of some columns; `target` is how many partitions are wanted.
    pub(super) async fn plan(
        layer: &Layer,
        fields: Vec<DataField>,
        taken: Taken,
        limit: Option<usize>,
        target: usize,
    ) -> Result<Self> {
        let (table, pruned, condition) = (&layer.table, Pruned::of(&taken), taken.text.join(" AND "));
        let filtered = !taken.rows.is_empty();
        let read = table.read().fields(fields.clone()).filter(all(taken.rows)).limit(limit).build()?;
        let mut scan = pruned.tallied(table.scan().with_statistics());
        if let Some(partitions) = &layer.partitions {
            scan = scan.partitions(partitions.clone());
        }
        if let Some(filter) = all(taken.scan) {
            scan = scan.filter(filter);
        }
        if let Some(limit) = limit {
            scan = scan.limit(limit as u64);
        }
        let splits = scan.plan().await?.splits;
        let statistics = Arc::new(statistics(table, &fields, &splits, filtered)?);
        let partitions = deal(splits, target.max(1));
        let schema = Arc::clone(read.schema());
        let mut equivalence = EquivalenceProperties::new(Arc::clone(&schema));
        if let Some(ordering) = ordering(table, &partitions, &schema) {
            equivalence.add_ordering(ordering);
        }
        let dynamic = DynamicFilters::none(table)?;
        let plan = Self::of(table.name(), Rows::Table(read), partitions, equivalence, statistics, dynamic);
        Ok(Self { condition, ..plan.pruned(pruned) })
    }

    fn pruned(self, pruned: Pruned) -> Self {
        Self { pruned, ..self }
    }

    /// What is read.
    pub(super) fn reading(&self) -> Reading {
        Reading::of(&self.name, self.partitions.iter().flatten())
    }
}

/// Deals splits to at most `target` partitions: buckets stay together and in order as long as there are enough of them,
/// so that the order of keys is kept; otherwise splits go to the partition with the fewest rows.
fn deal(splits: Vec<Split>, target: usize) -> Vec<Vec<Split>> {
    let mut buckets: Vec<Vec<Split>> = Vec::new();
    for split in splits {
        match buckets.last_mut() {
            Some(last) if last.first().is_some_and(|s| s.bucket == split.bucket && s.partition == split.partition) => {
                last.push(split);
            }
            _ => buckets.push(vec![split]),
        }
    }
    let units = if buckets.len() >= target {
        buckets
    } else {
        buckets.into_iter().flatten().map(|split| vec![split]).collect()
    };
    let mut partitions: Vec<(i64, Vec<Split>)> = (0..units.len().clamp(1, target)).map(|_| (0, Vec::new())).collect();
    for unit in units {
        let rows: i64 = unit.iter().map(Split::row_count).sum();
        if let Some(least) = partitions.iter_mut().min_by_key(|(load, _)| *load) {
            least.0 += rows;
            least.1.extend(unit);
        }
    }
    partitions.into_iter().map(|(_, splits)| splits).collect()
}

/// The order of the rows of every partition: that of the key, when each partition holds one bucket in key order, and the
/// key's types sort in files as they do in Arrow.
fn ordering(table: &Table, partitions: &[Vec<Split>], schema: &SchemaRef) -> Option<LexOrdering> {
    if !table.schema().is_primary_key_table() {
        return None;
    }
    if partitions.iter().flatten().any(|split| !matches!(split.content, Content::Rows)) {
        return None;
    }
    let one_bucket = partitions.iter().all(|splits| {
        splits.windows(2).all(|pair| pair[0].bucket == pair[1].bucket && pair[0].partition == pair[1].partition)
            && splits.iter().all(|split| split.files.len() < 2 || !split.raw_convertible)
    });
    if !one_bucket {
        return None;
    }
    let mut order = Vec::new();
    for key in table.schema().trimmed_primary_keys() {
        let sorts_alike = matches!(
            key.data_type.kind,
            Kind::TinyInt | Kind::SmallInt | Kind::Int | Kind::BigInt | Kind::Date | Kind::Char(_) | Kind::Varchar(_)
        );
        let Some(at) = schema.index_of(&key.name).ok().filter(|_| sorts_alike) else { break };
        let column: Arc<dyn PhysicalExpr> = Arc::new(Column::new(&key.name, at));
        order.push(PhysicalSortExpr::new(column, SortOptions::new(false, true)));
    }
    LexOrdering::new(order)
}

impl DisplayAs for ScanExec {
    fn fmt_as(&self, _t: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Reading { table, files, splits, merged, .. } = self.reading();
        write!(f, "LinnScan: table={table}, files={files}, splits={splits}, merged={merged}")?;
        write!(f, "{}", self.pruned)?;
        if !self.condition.is_empty() {
            write!(f, ", filter={}", self.condition)?;
        }
        for filter in self.dynamic.all() {
            write!(f, ", dynamic filter={filter}")?;
        }
        Ok(())
    }
}

impl ExecutionPlan for ScanExec {
    fn name(&self) -> &'static str {
        "LinnScan"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> DfResult<TreeNodeRecursion>,
    ) -> DfResult<TreeNodeRecursion> {
        for filter in self.dynamic.all() {
            if f(filter)? == TreeNodeRecursion::Stop {
                return Ok(TreeNodeRecursion::Stop);
            }
        }
        Ok(TreeNodeRecursion::Continue)
    }

    /// Takes what asks something of partitions; all filters stay where they are.
    fn handle_child_pushdown_result(
        &self,
        _phase: FilterPushdownPhase,
        result: ChildPushdownResult,
        _config: &ConfigOptions,
    ) -> DfResult<FilterPushdownPropagation<Arc<dyn ExecutionPlan>>> {
        let dynamic = self.dynamic.with(result.parent_filters.iter().map(|parent| Arc::clone(&parent.filter)));
        let taken = dynamic.all().len() > self.dynamic.all().len();
        let none = FilterPushdownPropagation::all_unsupported(result);
        Ok(match taken {
            true => none.with_updated_node(Arc::new(Self { dynamic, ..self.clone() })),
            false => none,
        })
    }

    fn with_new_children(self: Arc<Self>, _children: Vec<Arc<dyn ExecutionPlan>>) -> DfResult<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn execute(&self, partition: usize, _context: Arc<TaskContext>) -> DfResult<SendableRecordBatchStream> {
        let splits = self.partitions.get(partition).cloned().unwrap_or_default();
        let rows = self.rows.clone();
        let metrics = BaselineMetrics::new(&self.metrics, partition);
        let mut chosen = self.dynamic.over(&splits).map_err(theirs)?;
        let left_out = MetricBuilder::new(&self.metrics).counter("splits_pruned", partition);
        let batches = futures::stream::iter(splits.into_iter().enumerate()).then(move |(at, split)| {
            let wanted = chosen.has(at);
            left_out.add(usize::from(!wanted));
            let rows = rows.clone();
            async move {
                match wanted {
                    true => rows.stream(&split).await,
                    false => Ok(futures::stream::empty().boxed()),
                }
            }
        });
        let batches = batches.try_flatten().map(move |batch| {
            let batch = batch.map_err(theirs)?;
            metrics.record_output(batch.num_rows());
            Ok(batch)
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(Arc::clone(self.rows.schema()), batches)))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    fn partition_statistics(&self, partition: Option<usize>) -> DfResult<Arc<Statistics>> {
        Ok(match partition {
            None => Arc::clone(&self.statistics),
            Some(_) => Arc::new(Statistics::new_unknown(self.rows.schema())),
        })
    }
}
