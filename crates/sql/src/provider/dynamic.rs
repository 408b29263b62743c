//! Filters that are known only while a query runs, such as the keys of a join's other side: splits of partitions for which one
//! is not true are not opened.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use datafusion::arrow::buffer::BooleanBuffer;
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::common::tree_node::TreeNode;
use datafusion::error::Result as DfResult;
use datafusion::physical_expr::expressions::DynamicFilterPhysicalExpr;
use datafusion::physical_expr::scalar_subquery::ScalarSubqueryExpr;
use datafusion::physical_expr::utils::{collect_columns, reassign_expr_columns};
use datafusion::physical_expr::{PhysicalExpr, split_conjunction};
use datafusion::physical_expr_common::physical_expr::{is_volatile, snapshot_generation, snapshot_physical_expr};
use linn::format::row::{BinaryRow, columns_from_rows};
use linn::format::types::{DataField, DataType, arrow_schema};
use linn::{Result, Split, Table};

/// The filters of a scan, and what its partition columns look like.
#[derive(Debug, Clone)]
pub(super) struct DynamicFilters {
    filters: Vec<Arc<dyn PhysicalExpr>>,
    types: Vec<DataType>,
    schema: SchemaRef,
}

impl DynamicFilters {
    /// No filter, and none will be taken.
    pub(super) fn nothing() -> Self {
        Self { filters: Vec::new(), types: Vec::new(), schema: Arc::new(Schema::empty()) }
    }

    /// No filter yet. Partition columns that a query sees as something else are not asked.
    pub(super) fn none(table: &Table) -> Result<Self> {
        let fields: Vec<DataField> = table.schema().partition_fields().into_iter().cloned().collect();
        let nullable = |field: &DataField| {
            let data_type = field.data_type.clone().with_nullable(true);
            DataField { data_type, ..field.clone() }
        };
        let schema = arrow_schema(&fields.iter().map(nullable).collect::<Vec<_>>())?;
        Ok(Self { filters: Vec::new(), types: fields.into_iter().map(|field| field.data_type).collect(), schema })
    }

    /// With those of `filters` that ask something of a partition, and are not known before the query runs.
    pub(super) fn with(&self, filters: impl IntoIterator<Item = Arc<dyn PhysicalExpr>>) -> Self {
        let mut all = self.clone();
        all.filters.extend(filters.into_iter().filter(|filter| self.asks(filter) && is_known_late(filter)));
        all
    }

    fn asks(&self, filter: &Arc<dyn PhysicalExpr>) -> bool {
        collect_columns(filter).iter().any(|column| self.schema.fields().iter().any(|f| f.name() == column.name()))
    }

    pub(super) fn all(&self) -> &[Arc<dyn PhysicalExpr>] {
        &self.filters
    }

    /// Whether nothing is asked.
    pub(super) fn is_empty(&self) -> bool {
        self.filters.is_empty()
    }

    /// What the filters say of some splits, asked again and again while they come to be known.
    pub(super) fn over(&self, splits: &[Split]) -> Result<Chosen> {
        let rows: Vec<BinaryRow> = match self.is_empty() {
            true => Vec::new(),
            false => splits.iter().map(|split| split.partition.clone()).collect(),
        };
        Ok(Chosen { filters: self.clone(), columns: columns_from_rows(&rows, &self.types)?, known: None })
    }

    /// The parts of the filters as they are now that a partition alone decides.
    fn now(&self) -> DfResult<Vec<Arc<dyn PhysicalExpr>>> {
        let mut parts = Vec::new();
        for filter in &self.filters {
            let filter = snapshot_physical_expr(Arc::clone(filter))?;
            for part in split_conjunction(&filter) {
                let columns = collect_columns(part);
                let of_partition = |name: &str| self.schema.fields().iter().any(|field| field.name() == name);
                if !columns.is_empty() && columns.iter().all(|c| of_partition(c.name())) && !is_volatile(part) {
                    parts.push(reassign_expr_columns(Arc::clone(part), &self.schema)?);
                }
            }
        }
        Ok(parts)
    }
}

/// Whether a filter comes to be known while the query runs: what has been known before has left out its partitions by then.
fn is_known_late(filter: &Arc<dyn PhysicalExpr>) -> bool {
    let late = |expr: &Arc<dyn PhysicalExpr>| {
        let dynamic = expr.downcast_ref::<DynamicFilterPhysicalExpr>().is_some();
        Ok(dynamic || expr.downcast_ref::<ScalarSubqueryExpr>().is_some())
    };
    filter.exists(late).unwrap_or(false)
}

/// Which of some splits are read.
#[derive(Debug)]
pub(super) struct Chosen {
    filters: DynamicFilters,
    columns: Vec<ArrayRef>,
    /// The answers, and how often the filters had changed by then.
    known: Option<(u64, BooleanBuffer)>,
}

impl Chosen {
    /// Whether a split may have rows that are asked for, as far as that is known now. A filter that cannot be computed says
    /// nothing: it is computed again above the scan.
    pub(super) fn has(&mut self, split: usize) -> bool {
        if self.filters.is_empty() {
            return true;
        }
        let generation = self.filters.all().iter().map(snapshot_generation).fold(0, u64::wrapping_add);
        if self.known.as_ref().is_none_or(|(at, _)| *at != generation) {
            let rows = self.columns.first().map_or(0, |column| column.len());
            let answers = self.answers(rows).unwrap_or_else(|_| BooleanBuffer::new_set(rows));
            self.known = Some((generation, answers));
        }
        self.known.as_ref().is_none_or(|(_, answers)| split >= answers.len() || answers.value(split))
    }

    fn answers(&self, rows: usize) -> DfResult<BooleanBuffer> {
        let batch = RecordBatch::try_new(Arc::clone(&self.filters.schema), self.columns.clone())?;
        let mut keep = BooleanBuffer::new_set(rows);
        for part in self.filters.now()? {
            let Ok(found) = part.evaluate(&batch).and_then(|value| value.into_array(rows)) else { continue };
            let Some(found) = found.as_boolean_opt() else { continue };
            keep = &keep & found.values();
            if let Some(nulls) = found.logical_nulls() {
                keep = &keep & nulls.inner();
            }
        }
        Ok(keep)
    }
}
