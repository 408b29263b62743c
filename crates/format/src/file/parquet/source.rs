//! The reader's view of a [`RangeReader`]: ranges that lie close together are fetched as one, and the footer is fetched
//! with one read of the file's end.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use futures::future::{BoxFuture, FutureExt, try_join_all};
use parquet::arrow::arrow_reader::ArrowReaderOptions;
use parquet::arrow::async_reader::AsyncFileReader;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ParquetMetaData;

use crate::RangeReader;

/// Gaps up to this many bytes are read along rather than making two reads.
const COALESCE_GAP: u64 = 256 << 10;
/// Reads are not joined beyond this size, so that they can be made side by side.
const COALESCE_SIZE: u64 = 16 << 20;

/// One open file.
#[derive(Clone)]
pub(super) struct Source {
    file: Arc<dyn RangeReader>,
    /// The end of the file, and where it starts.
    tail: Option<(u64, Bytes)>,
}

impl Source {
    /// Reads the last `length` bytes along.
    pub(super) async fn open(file: Arc<dyn RangeReader>, length: u64) -> crate::Result<Self> {
        let start = file.size().saturating_sub(length);
        let bytes = file.read(start..file.size()).await?;
        Ok(Self { file, tail: Some((start, bytes)) })
    }

    /// Forgets the end of the file.
    pub(super) fn release(&mut self) {
        self.tail = None;
    }

    fn cached(&self, range: &Range<u64>) -> Option<Bytes> {
        let (start, bytes) = self.tail.as_ref()?;
        let from = usize::try_from(range.start.checked_sub(*start)?).ok()?;
        let to = usize::try_from(range.end.checked_sub(*start)?).ok()?;
        (from <= to && to <= bytes.len()).then(|| bytes.slice(from..to))
    }

    pub(super) async fn read(&self, range: Range<u64>) -> Result<Bytes> {
        if range.start > range.end || range.end > self.file.size() {
            return Err(ParquetError::EOF(format!("bytes {range:?} of {} are asked for", self.file.size())));
        }
        if let Some(bytes) = self.cached(&range) {
            return Ok(bytes);
        }
        let expected = range.end - range.start;
        let bytes = self.file.read(range).await.map_err(|e| ParquetError::External(Box::new(e)))?;
        if bytes.len() as u64 == expected {
            Ok(bytes)
        } else {
            Err(ParquetError::EOF(format!("{} bytes instead of {expected}", bytes.len())))
        }
    }

    async fn read_all(&self, ranges: Vec<Range<u64>>) -> Result<Vec<Bytes>> {
        let joined = coalesce(&ranges);
        let blocks = try_join_all(joined.iter().map(|range| self.read(range.clone()))).await?;
        let find = |range: &Range<u64>| {
            let at = joined.partition_point(|block| block.start <= range.start).checked_sub(1)?;
            let (block, bytes) = (joined.get(at)?, blocks.get(at)?);
            let from = usize::try_from(range.start - block.start).ok()?;
            let to = usize::try_from(range.end.checked_sub(block.start)?).ok()?;
            (from <= to && to <= bytes.len()).then(|| bytes.slice(from..to))
        };
        let missing = |range: &Range<u64>| ParquetError::General(format!("bytes {range:?} were not read"));
        ranges.iter().map(|range| find(range).ok_or_else(|| missing(range))).collect()
    }
}

/// Ranges in order that together cover all of `ranges`, each in one of them.
fn coalesce(ranges: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut sorted = ranges.to_vec();
    sorted.sort_by_key(|range| (range.start, range.end));
    let mut joined: Vec<Range<u64>> = Vec::with_capacity(sorted.len());
    for range in sorted {
        match joined.last_mut() {
            Some(last)
                if range.start < last.end
                    || (range.start <= last.end.saturating_add(COALESCE_GAP)
                        && range.end.saturating_sub(last.start) <= COALESCE_SIZE) =>
            {
                last.end = last.end.max(range.end);
            }
            _ => joined.push(range),
        }
    }
    joined
}

impl AsyncFileReader for Source {
    fn get_bytes(&mut self, range: Range<u64>) -> BoxFuture<'_, Result<Bytes>> {
        self.read(range).boxed()
    }

    fn get_byte_ranges(&mut self, ranges: Vec<Range<u64>>) -> BoxFuture<'_, Result<Vec<Bytes>>> {
        self.read_all(ranges).boxed()
    }

    fn get_metadata<'a>(
        &'a mut self,
        _options: Option<&'a ArrowReaderOptions>,
    ) -> BoxFuture<'a, Result<Arc<ParquetMetaData>>> {
        let error = ParquetError::General("the footer is loaded before the reader is made".to_owned());
        std::future::ready(Err(error)).boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_ranges_are_read_together_and_overlapping_ones_always() {
        let gap = COALESCE_GAP;
        assert_eq!(coalesce(&[0..10, 10 + gap..30 + gap]), vec![0..30 + gap]);
        assert_eq!(coalesce(&[11 + gap..30 + gap, 0..10]), vec![0..10, 11 + gap..30 + gap]);
        assert_eq!(coalesce(&[0..COALESCE_SIZE, COALESCE_SIZE - 1..COALESCE_SIZE + 5]), vec![0..COALESCE_SIZE + 5]);
        assert_eq!(coalesce(&[0..COALESCE_SIZE, COALESCE_SIZE..COALESCE_SIZE + 5]).len(), 2);
    }
}
