//! Leaving out rows of a file that are deleted or do not match, after decoding: what every format does alike.
//!
//! Positions count all rows of the file, so batches must arrive complete and in file order.

use std::sync::Arc;

use arrow_array::{BooleanArray, RecordBatch};
use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder};
use arrow_schema::{Field, Schema, SchemaRef};
use roaring::RoaringTreemap;

use super::FileRead;
use crate::Result;
use crate::predicate::Predicate;
use crate::types::{DataField, arrow_field};

/// Which rows of a file to keep.
pub(crate) struct Selection {
    fields: Vec<DataField>,
    filter: Option<Predicate>,
    deleted: Option<Arc<RoaringTreemap>>,
    position: u64,
}

impl Selection {
    /// The selection that `read` asks for.
    pub(crate) fn new(read: &FileRead) -> Self {
        let filter = if read.exact_filter { read.filter.clone() } else { None };
        let deleted = read.deleted.clone().filter(|d| !d.is_empty());
        Self { fields: read.fields.clone(), filter, deleted, position: 0 }
    }

    /// The schema of the batches; a NOT NULL column that the file lacks becomes nullable.
    ///
    /// # Errors
    /// `Unsupported` for types that have no Arrow counterpart.
    pub(crate) fn schema(&self, in_file: impl Fn(&str) -> bool) -> Result<SchemaRef> {
        let field = |f: &DataField| -> Result<Field> {
            let field = arrow_field(f)?;
            Ok(if in_file(&f.name) { field } else { field.with_nullable(true) })
        };
        let fields = self.fields.iter().map(field).collect::<Result<Vec<_>>>()?;
        Ok(Arc::new(Schema::new(fields)))
    }

    /// The rows of the next batch that stay, or none if none do.
    pub(crate) fn apply(&mut self, batch: RecordBatch) -> Result<Option<RecordBatch>> {
        let start = self.position;
        self.position += batch.num_rows() as u64;
        let alive = self.deleted.as_ref().and_then(|deleted| alive(deleted, start, batch.num_rows()));
        let batch = match alive {
            Some(alive) => keep(&batch, &BooleanArray::new(alive, None))?,
            None => batch,
        };
        let batch = match &self.filter {
            Some(filter) if batch.num_rows() > 0 => keep(&batch, &filter.evaluate(&batch, &self.fields)?)?,
            _ => batch,
        };
        Ok((batch.num_rows() > 0).then_some(batch))
    }
}

fn keep(batch: &RecordBatch, which: &BooleanArray) -> Result<RecordBatch> {
    Ok(arrow_select::filter::filter_record_batch(batch, which)?)
}

/// Which of `rows` rows from position `start` are not deleted; none when all are alive.
fn alive(deleted: &RoaringTreemap, start: u64, rows: usize) -> Option<BooleanBuffer> {
    let end = start + rows as u64;
    if deleted.rank(end.saturating_sub(1)) == start.checked_sub(1).map_or(0, |before| deleted.rank(before)) {
        return None;
    }
    let mut bits = BooleanBufferBuilder::new(rows);
    bits.append_n(rows, true);
    let mut positions = deleted.iter();
    positions.advance_to(start);
    for position in positions.take_while(|p| *p < end) {
        // Within the batch, hence within usize.
        bits.set_bit((position - start) as usize, false);
    }
    Some(bits.finish())
}
