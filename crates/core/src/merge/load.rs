//! The runs of a merge, read a batch at a time: each batch becomes a source with what comparisons need.

use std::cmp::Ordering;

use arrow_array::RecordBatch;
use futures::StreamExt;
use linn_format::file::value_bytes;
use linn_format::{Error, Result};

use super::key::KeyColumn;
use super::older::OLDER_LEVEL;
use super::run::{Head, LeveledStream, Merger, Order};

impl<C: KeyColumn> Merger<C> {
    /// Reads the first batch of every run. Files are opened side by side, as that is mostly waiting for a store.
    pub(super) async fn start(&mut self) -> Result<()> {
        let firsts = futures::future::try_join_all(self.runs.iter_mut().map(next_rows)).await?;
        for (run, first) in firsts.into_iter().enumerate() {
            match first {
                Some((batch, level)) => self.load(run, &batch, level, None)?,
                None => self.heads[run] = Head::Done,
            }
        }
        Ok(())
    }

    /// Reads the next batch of a run that has rows.
    pub(super) async fn read(&mut self, run: usize) -> Result<()> {
        let last = match self.heads[run] {
            Head::At { source, len, .. } => Some((source, len - 1)),
            _ => None,
        };
        match next_rows(&mut self.runs[run]).await? {
            Some((batch, level)) => self.load(run, &batch, level, last),
            None => {
                self.heads[run] = Head::Done;
                Ok(())
            }
        }
    }

    /// Takes in a batch of a run, whose number is the returned one among the sources and the orders.
    fn add_source(&mut self, batch: &RecordBatch, level: i32) -> Result<usize> {
        let columns = batch.columns();
        let keys = C::from_keys(self.encoder.encode(columns, batch.num_rows())?)?;
        self.add(batch, level, keys)
    }

    /// Takes in older records, whose keys are known.
    pub(super) fn add_older(&mut self, batch: &RecordBatch) -> Result<usize> {
        let none = batch.slice(0, 0);
        let keys = C::from_keys(self.encoder.encode(none.columns(), 0)?)?;
        self.add(batch, OLDER_LEVEL, keys)
    }

    fn add(&mut self, batch: &RecordBatch, level: i32, keys: C) -> Result<usize> {
        let source = self.assembler.add_source(batch, level)?;
        let len = batch.num_rows();
        let columns = &self.assembler.sources()[source].columns;
        let sequence = self.sequence_encoder.as_ref().map(|e| e.encode(columns, len)).transpose()?;
        self.orders.push(Order { keys, sequence, unique: false, row_bytes: value_bytes(batch)? / len.max(1) });
        Ok(source)
    }

    fn load(&mut self, run: usize, batch: &RecordBatch, level: i32, last: Option<(usize, usize)>) -> Result<()> {
        let source = self.add_source(batch, level)?;
        let len = batch.num_rows();
        let keys = &self.orders[source].keys;
        let mut unique = true;
        for row in 1..len {
            match keys.key(row - 1).cmp(&keys.key(row)) {
                Ordering::Less => {}
                Ordering::Equal => unique = false,
                Ordering::Greater => return Err(unsorted()),
            }
        }
        if let Some((before, row)) = last
            && self.orders[before].keys.key(row) > keys.key(0)
        {
            return Err(unsorted());
        }
        self.orders[source].unique = unique;
        self.heads[run] = Head::At { source, row: 0, len };
        Ok(())
    }
}

/// The next batch of a run that has rows.
async fn next_rows(run: &mut LeveledStream) -> Result<Option<(RecordBatch, i32)>> {
    loop {
        match run.next().await.transpose()? {
            Some((batch, _)) if batch.num_rows() == 0 => {}
            next => return Ok(next),
        }
    }
}

fn unsorted() -> Error {
    Error::corrupt("a sorted run is not sorted by key")
}
