//! The merge of an unsorted buffer: batches in order of arrival become merged rows sorted by key.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_row::Rows;
use linn_format::Result;

use super::assemble::{Assembler, Change, View};
use super::beside::Columns;
use super::changelog::Merged;
use super::key::{KeyColumn, KeyWidth, Keys};
use super::source::{Pick, Record};
use super::spec::MergeSpec;

/// Sorts and merges key-value batches whose rows are in order of arrival, that is of sequence number. Yields at most
/// `batch_size` rows at a time.
pub(crate) struct SortedBuffer {
    assembler: Assembler,
    picks: Vec<Pick>,
    /// Whether a pick's key differs from the one before.
    starts: Vec<bool>,
    at: usize,
    batch_size: usize,
    group: Vec<Record>,
}

impl SortedBuffer {
    /// Sorts; the merging happens while iterating.
    pub(crate) fn new(batches: &[RecordBatch], spec: Arc<MergeSpec>, view: View, batch_size: usize) -> Result<Self> {
        let encoder = spec.key_encoder()?;
        let sequence_encoder = spec.sequence_encoder()?;
        let mut assembler = Assembler::new(spec, view, Columns::InTurn)?;
        let (mut keys, mut sequences) = (Vec::with_capacity(batches.len()), Vec::with_capacity(batches.len()));
        for batch in batches {
            let source = assembler.add_source(batch, 0)?;
            let columns = &assembler.sources()[source].columns;
            keys.push(encoder.encode(columns, batch.num_rows())?);
            sequences.push(sequence_encoder.as_ref().map(|e| e.encode(columns, batch.num_rows())).transpose()?);
        }
        let lengths: Vec<usize> = batches.iter().map(RecordBatch::num_rows).collect();
        let (picks, starts) = match encoder.width() {
            KeyWidth::U64 => sort::<Vec<u64>>(keys, &sequences, &lengths)?,
            KeyWidth::U128 => sort::<Vec<u128>>(keys, &sequences, &lengths)?,
            KeyWidth::Rows => sort::<Rows>(keys, &sequences, &lengths)?,
        };
        Ok(Self { assembler, picks, starts, at: 0, batch_size: batch_size.max(1), group: Vec::new() })
    }

    /// The rows alone, of which those of a key come oldest first: for [`Ranks::Together`](super::Ranks::Together).
    pub(crate) fn rows(self) -> impl Iterator<Item = Result<RecordBatch>> {
        self.filter_map(|merged| merged.map(|merged| merged.rows).transpose())
    }

    fn next_batch(&mut self) -> Result<Option<Merged>> {
        while self.at < self.picks.len() {
            while self.at < self.picks.len() && self.assembler.pending() < self.batch_size {
                self.group.clear();
                loop {
                    let pick = self.picks[self.at];
                    let kind = self.assembler.sources()[pick.source as usize].kinds[pick.row as usize];
                    self.group.push(Record { pick, kind });
                    self.at += 1;
                    if self.at >= self.picks.len() || self.starts[self.at] {
                        break;
                    }
                }
                self.assembler.group(&self.group, Change::Unreported)?;
            }
            let merged = self.assembler.take()?;
            if !merged.is_empty() {
                return Ok(Some(merged));
            }
        }
        Ok(None)
    }
}

impl Iterator for SortedBuffer {
    type Item = Result<Merged>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_batch().transpose()
    }
}

fn sort<C: KeyColumn>(
    keys: Vec<Keys>,
    sequences: &[Option<Keys>],
    lengths: &[usize],
) -> Result<(Vec<Pick>, Vec<bool>)> {
    let keys = keys.into_iter().map(C::from_keys).collect::<Result<Vec<_>>>()?;
    let mut entries: Vec<(C::Key<'_>, Pick)> = Vec::with_capacity(lengths.iter().sum());
    for (source, (keys, &len)) in keys.iter().zip(lengths).enumerate() {
        entries.extend((0..len).map(|row| (keys.key(row), Pick { source: source as u32, row: row as u32 })));
    }
    let arrival = |p: Pick| (p.source, p.row);
    if sequences.iter().all(Option::is_none) {
        entries.sort_unstable_by(|(ka, a), (kb, b)| ka.cmp(kb).then_with(|| arrival(*a).cmp(&arrival(*b))));
    } else {
        entries.sort_unstable_by(|(ka, a), (kb, b)| {
            ka.cmp(kb)
                .then_with(|| match (&sequences[a.source as usize], &sequences[b.source as usize]) {
                    (Some(x), Some(y)) => x.compare(a.row as usize, y, b.row as usize),
                    _ => std::cmp::Ordering::Equal,
                })
                .then_with(|| arrival(*a).cmp(&arrival(*b)))
        });
    }
    let mut starts = Vec::with_capacity(entries.len());
    let mut before = None;
    for (key, _) in &entries {
        starts.push(before != Some(*key));
        before = Some(*key);
    }
    Ok((entries.into_iter().map(|(_, pick)| pick).collect(), starts))
}
