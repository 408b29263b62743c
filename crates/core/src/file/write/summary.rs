//! What a file's metadata says of its rows, gathered while they are written.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use linn_format::file::DataFileMeta;
use linn_format::row::{BinaryRow, rows_from_columns};
use linn_format::stats::{SimpleStats, StatsCollector};
use linn_format::types::{DataType, RowKind};
use linn_format::{Error, Result};

use super::FileKind;
use super::settings::Settings;

pub(super) struct Summary {
    rows: i64,
    deletes: i64,
    sequences: Option<(i64, i64)>,
    /// Key columns of the first and the last row.
    first: Option<Vec<ArrayRef>>,
    last: Option<Vec<ArrayRef>>,
    key_stats: StatsCollector,
    value_stats: StatsCollector,
}

impl Summary {
    pub(super) fn new(settings: &Settings) -> Result<Self> {
        Ok(Self {
            rows: 0,
            deletes: 0,
            sequences: None,
            first: None,
            last: None,
            key_stats: StatsCollector::new(&settings.key_fields, &settings.key_modes)?,
            value_stats: StatsCollector::new(&settings.table.schema().fields, &settings.value_modes)?,
        })
    }

    pub(super) fn rows(&self) -> i64 {
        self.rows
    }

    /// Adds a batch as it came to the writer, values first.
    pub(super) fn update(&mut self, settings: &Settings, batch: &RecordBatch) -> Result<()> {
        self.rows += batch.num_rows() as i64;
        self.value_stats.update(batch)?;
        let Some(layout) = &settings.layout else { return Ok(()) };
        let keys: Vec<usize> = layout.keys().to_vec();
        let keys = batch.project(&keys)?;
        self.key_stats.update(&keys)?;
        if let Some(last) = batch.num_rows().checked_sub(1) {
            let row = |at| keys.columns().iter().map(|c| c.slice(at, 1)).collect::<Vec<_>>();
            self.first.get_or_insert_with(|| row(0));
            self.last = Some(row(last));
        }
        let values = settings.table.schema().fields.len();
        self.sequence(batch.columns().get(values))?;
        self.kinds(batch.columns().get(values + 1))
    }

    fn sequence(&mut self, column: Option<&ArrayRef>) -> Result<()> {
        let column = column.and_then(|c| c.as_primitive_opt::<Int64Type>());
        let values = column.ok_or_else(|| Error::internal("a key-value batch lacks its sequence numbers"))?.values();
        let Some(first) = values.first() else { return Ok(()) };
        let (min, max) = values.iter().fold((*first, *first), |(min, max), v| (min.min(*v), max.max(*v)));
        let (low, high) = self.sequences.unwrap_or((min, max));
        self.sequences = Some((low.min(min), high.max(max)));
        Ok(())
    }

    fn kinds(&mut self, column: Option<&ArrayRef>) -> Result<()> {
        let column = column.and_then(|c| c.as_primitive_opt::<Int8Type>());
        let values = column.ok_or_else(|| Error::internal("a key-value batch lacks its row kinds"))?.values();
        let retracts = [RowKind::UpdateBefore.as_byte(), RowKind::Delete.as_byte()];
        self.deletes += values.iter().filter(|kind| retracts.contains(&kind.cast_unsigned())).count() as i64;
        Ok(())
    }

    /// Writes what was gathered into `meta`. `start` is the number of rows in the writer's earlier files.
    pub(super) fn finish(self, settings: &Settings, start: i64, meta: &mut DataFileMeta) -> Result<()> {
        meta.row_count = self.rows;
        meta.delete_row_count = Some(self.deletes);
        (meta.min_sequence_number, meta.max_sequence_number) = match (settings.kind, self.sequences) {
            (FileKind::Append { first_sequence }, _) => {
                let first = first_sequence + start;
                (first, first + self.rows - 1)
            }
            (_, Some(range)) => range,
            (_, None) => return Err(Error::internal("a data file without rows")),
        };
        let fields = &settings.table.schema().fields;
        let columns = self.value_stats.finish();
        if settings.dense {
            (meta.value_stats, meta.value_stats_cols) = SimpleStats::dense(&columns, fields)?;
        } else {
            meta.value_stats = SimpleStats::full(&columns, fields.iter().map(|f| &f.data_type))?;
        }
        if settings.layout.is_some() {
            let types: Vec<DataType> = settings.key_fields.iter().map(|f| f.data_type.clone()).collect();
            meta.key_stats = SimpleStats::full(&self.key_stats.finish(), &types)?;
            meta.min_key = key(self.first, &types)?;
            meta.max_key = key(self.last, &types)?;
        }
        Ok(())
    }
}

fn key(columns: Option<Vec<ArrayRef>>, types: &[DataType]) -> Result<BinaryRow> {
    let columns = columns.ok_or_else(|| Error::internal("a data file without rows"))?;
    let rows = rows_from_columns(&columns, types)?;
    rows.into_iter().next().ok_or_else(|| Error::internal("a key without columns"))
}
