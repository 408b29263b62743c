//! A table at one snapshot.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::union::UnionExec;
use linn::core::branch::Layer;
use linn::core::file::row_id_field;
use linn::format::options::table::general::ROW_TRACKING_ENABLED;
use linn::format::types::{DataField, DataType, Kind, SEQUENCE_NUMBER, SEQUENCE_NUMBER_ID, arrow_schema};
use linn::{Error, Result, Table};

use super::partition::Pushdown;
use super::scan::ScanExec;
use crate::error::theirs;

/// A table as of now or of the time its options ask for. Reading it twice gives the same rows.
#[derive(Debug)]
pub struct LinnTable {
    table: Table,
    /// What is read of which branch, the table's own first or second.
    layers: Vec<Layer>,
    /// Columns that reads give beside those of the table.
    extra: Vec<DataField>,
    schema: SchemaRef,
}

impl LinnTable {
    /// Pins the snapshot that the table's options choose, the latest by default, and takes its schema when the options
    /// travel in time.
    ///
    /// # Errors
    /// `NotFound` when the options name a snapshot, tag or time that is not there.
    pub async fn open(table: Table) -> Result<Self> {
        Self::open_with(table, Vec::new()).await
    }

    /// The same with the ids of rows and the numbers of the commits that wrote them.
    ///
    /// # Errors
    /// As [`open`](Self::open), and `Invalid` for a table that does not track its rows.
    pub(super) async fn open_tracked(table: Table) -> Result<Self> {
        if !table.options().is_on(&ROW_TRACKING_ENABLED)? {
            return Err(Error::invalid("the rows of the table are not tracked")
                .with("table", table.name())
                .with_hint("only tables with row-tracking.enabled have $row_tracking"));
        }
        let number = DataField::new(SEQUENCE_NUMBER_ID, SEQUENCE_NUMBER, DataType::nullable(Kind::BigInt));
        Self::open_with(table, vec![row_id_field(), number]).await
    }

    async fn open_with(table: Table, extra: Vec<DataField>) -> Result<Self> {
        let layers = table.layers().await?;
        let own = layers.iter().find(|layer| layer.table.branch() == table.branch()).map(|layer| layer.table.clone());
        let table = match own {
            Some(own) => own,
            // All its partitions come from another branch.
            None => table.pinned().await?,
        };
        let mut fields = table.visible_fields()?;
        fields.extend(extra.iter().cloned());
        let schema = arrow_schema(&fields)?;
        Ok(Self { table, layers, extra, schema })
    }

    /// The table.
    pub fn table(&self) -> &Table {
        &self.table
    }
}

#[async_trait]
impl TableProvider for LinnTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        let target = state.config().target_partitions();
        let mut plans: Vec<Arc<dyn ExecutionPlan>> = Vec::with_capacity(self.layers.len());
        for layer in &self.layers {
            let fields = &layer.table.schema().fields;
            let taken = Pushdown::of(&layer.table).take(state, filters)?;
            let all: Vec<&DataField> = fields.iter().chain(&self.extra).collect();
            let columns = match projection {
                Some(columns) => columns.iter().filter_map(|&at| all.get(at).copied()).cloned().collect(),
                None => all.into_iter().cloned().collect(),
            };
            plans.push(Arc::new(ScanExec::plan(layer, columns, taken, limit, target).await.map_err(theirs)?));
        }
        match plans.len() {
            1 => Ok(plans.remove(0)),
            _ => UnionExec::try_new(plans),
        }
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> DfResult<Vec<TableProviderFilterPushDown>> {
        Ok(Pushdown::of(&self.table).kinds(filters))
    }
}
