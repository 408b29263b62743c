//! Which partitions of a manifest a scan needs: its filter is computed over all of them at once.
//!
//! Conjuncts over partition columns alone decide: a partition for which one is not true has no row that is asked for, and
//! the rows of those that are left satisfy them all. Of other conjuncts only what follows for partition columns is asked, with
//! the rest taken as unknown. A manifest names partitions whose files are gone, so a condition that fails on one of them is an
//! error only when a file of it is planned.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, UInt32Array};
use arrow_schema::{Field, Schema};
use arrow_select::take::take;
use linn_format::manifest::{EntryBatch, FileKind};
use linn_format::predicate::Predicate;
use linn_format::row::{BinaryRow, columns_from_rows};
use linn_format::types::{DataField, DataType};
use linn_format::{Error, Result};
use parking_lot::Mutex;

/// The partitions that a filter asks for.
#[derive(Debug)]
pub(super) struct PartitionFilter {
    fields: Vec<DataField>,
    /// Conjuncts over partition columns alone, what a query engine computes last.
    exact: Vec<Predicate>,
    /// What follows from the other conjuncts.
    weak: Predicate,
    named: Option<HashSet<BinaryRow>>,
    /// Partitions on which a conjunct failed that no other one leaves out.
    failed: Mutex<HashMap<BinaryRow, Error>>,
    tally: Option<Arc<PartitionTally>>,
}

impl PartitionFilter {
    pub(super) fn new(
        fields: Vec<DataField>,
        filter: &Predicate,
        named: Option<&[BinaryRow]>,
        tally: Option<Arc<PartitionTally>>,
    ) -> Self {
        let among = |id: i32| fields.iter().any(|field| field.id == id);
        let (exact, rest) = filter.clone().split(among);
        let weak = rest.project(among);
        let mut exact = exact.conjuncts();
        exact.sort_by_key(|part| matches!(part, Predicate::Computed(_)));
        let named = named.map(|all| all.iter().cloned().collect());
        Self { fields, exact, weak, named, failed: Mutex::default(), tally }
    }

    /// Which partitions of a manifest are asked for, by number; `None` when all are.
    pub(super) fn of(&self, batch: &Arc<EntryBatch>) -> Result<Option<Vec<bool>>> {
        if self.exact.is_empty() && self.weak == Predicate::Constant(true) && self.named.is_none() {
            return Ok(None);
        }
        let rows = batch.partitions()?;
        let mut left: Vec<u32> = (0..).zip(&rows).filter(|(_, row)| self.is_named(row)).map(|(i, _)| i).collect();
        self.narrow(&rows, &mut left)?;
        let mut keep = vec![false; rows.len()];
        for i in left {
            if let Some(keep) = keep.get_mut(i as usize) {
                *keep = true;
            }
        }
        if let Some(tally) = &self.tally {
            tally.note(batch, &keep);
        }
        Ok(Some(keep))
    }

    fn is_named(&self, row: &BinaryRow) -> bool {
        self.named.as_ref().is_none_or(|named| named.contains(row))
    }

    /// Leaves out partitions, conjunct by conjunct.
    fn narrow(&self, rows: &[BinaryRow], left: &mut Vec<u32>) -> Result<()> {
        let types: Vec<DataType> = self.fields.iter().map(|field| field.data_type.clone()).collect();
        let columns = columns_from_rows(rows, &types)?;
        let mut failed: HashMap<u32, Error> = HashMap::new();
        for part in &self.exact {
            *left = self.judge(part, &columns, left, &mut |row, error| _ = failed.entry(row).or_insert(error))?;
        }
        *left = self.judge(&self.weak, &columns, left, &mut |_, _| {})?;
        let mut known = self.failed.lock();
        for row in left.iter() {
            if let (Some(error), Some(partition)) = (failed.remove(row), rows.get(*row as usize)) {
                known.entry(partition.clone()).or_insert(error);
            }
        }
        Ok(())
    }

    /// The rows of `among` for which a condition is true or fails; which one failed is found by halving.
    fn judge(
        &self,
        condition: &Predicate,
        columns: &[ArrayRef],
        among: &[u32],
        failed: &mut impl FnMut(u32, Error),
    ) -> Result<Vec<u32>> {
        if *condition == Predicate::Constant(true) {
            return Ok(among.to_vec());
        }
        let mut kept = Vec::with_capacity(among.len());
        let mut open = vec![among];
        while let Some(rows) = open.pop() {
            match condition.mask(&self.batch(columns, rows)?, &self.fields) {
                Ok(mask) => kept.extend(rows.iter().zip(mask.iter()).filter(|(_, keep)| *keep).map(|(row, _)| *row)),
                Err(e) => match rows {
                    [] => {}
                    [row] => {
                        failed(*row, e);
                        kept.push(*row);
                    }
                    rows => {
                        let (low, high) = rows.split_at(rows.len() / 2);
                        open.extend([high, low]);
                    }
                },
            }
        }
        Ok(kept)
    }

    /// Some rows of the partition columns.
    fn batch(&self, columns: &[ArrayRef], rows: &[u32]) -> Result<RecordBatch> {
        let all = columns.first().is_some_and(|column| column.len() == rows.len());
        let columns = match all {
            true => columns.to_vec(),
            false => {
                let rows = UInt32Array::from(rows.to_vec());
                columns.iter().map(|column| Ok(take(column, &rows, None)?)).collect::<Result<Vec<_>>>()?
            }
        };
        let named = self.fields.iter().zip(&columns);
        let fields: Vec<Field> = named.map(|(f, c)| Field::new(&f.name, c.data_type().clone(), true)).collect();
        Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?)
    }

    /// The error of a partition that is planned although a condition failed on it.
    pub(super) fn check(&self, partition: &BinaryRow) -> Result<()> {
        let mut failed = self.failed.lock();
        match failed.remove(partition) {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}

/// What a plan made of the partitions that it found in manifests.
#[derive(Debug, Default)]
pub struct PartitionTally {
    manifests: Mutex<Vec<(Arc<EntryBatch>, Vec<bool>)>>,
}

impl PartitionTally {
    fn note(&self, batch: &Arc<EntryBatch>, keep: &[bool]) {
        self.manifests.lock().push((Arc::clone(batch), keep.to_vec()));
    }

    /// How many partitions with files the manifests that were read have, and how many of them were kept; computed when
    /// it is asked for. Manifests that were left out as a whole are not among them.
    pub fn counts(&self) -> (usize, usize) {
        let manifests = self.manifests.lock();
        let mut files: HashMap<&[u8], (i64, bool)> = HashMap::new();
        for (batch, keep) in manifests.iter() {
            for i in 0..batch.len() {
                let kept = keep.get(batch.partition_id(i) as usize).is_some_and(|keep| *keep);
                let count = files.entry(batch.partition(i)).or_insert((0, kept));
                count.0 += if batch.kind(i) == FileKind::Add { 1 } else { -1 };
            }
        }
        let live = || files.values().filter(|(count, _)| *count > 0);
        (live().count(), live().filter(|(_, kept)| *kept).count())
    }
}
