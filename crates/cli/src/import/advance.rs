//! Progress over columnar files, which are not read from their beginning to their end: the bytes of a file advance with its rows.

use indicatif::ProgressBar;
use parquet::file::metadata::ParquetMetaDataReader;

use super::chunk::Chunks;
use super::guard::guarded;
use super::source::Source;
use crate::args::FileKind;

/// Chunks that move a bar as they are taken. Of files that do not say how many rows they have the bar moves at their end.
pub(super) fn advancing(chunks: Chunks, source: &Source, bar: &ProgressBar) -> Chunks {
    let (size, bar) = (source.size().unwrap_or(0), bar.clone());
    let rows = rows(source).filter(|rows| *rows > 0);
    let (mut seen, mut told) = (0u64, 0u64);
    let mut chunks = chunks;
    Box::new(std::iter::from_fn(move || {
        let next = chunks.next();
        let come = match &next {
            Some(Ok(chunk)) => chunk.batch.num_rows() as u64,
            Some(Err(_)) => 0,
            None => {
                bar.inc(size.saturating_sub(told));
                told = size;
                return None;
            }
        };
        seen = seen.saturating_add(come);
        if let Some(rows) = rows {
            let now = u64::try_from(u128::from(size) * u128::from(seen.min(rows)) / u128::from(rows)).unwrap_or(size);
            bar.inc(now.saturating_sub(told));
            told = told.max(now);
        }
        next
    }))
}

/// The rows that the footer of a Parquet file promises; the reading itself says what is wrong with it.
fn rows(source: &Source) -> Option<u64> {
    if source.kind != FileKind::Parquet {
        return None;
    }
    let file = source.raw().ok()?;
    let metadata = guarded(|| ParquetMetaDataReader::new().parse_and_finish(&file)).ok()?.ok()?;
    u64::try_from(metadata.file_metadata().num_rows()).ok()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int32Array};
    use arrow::record_batch::RecordBatch;
    use parquet::arrow::ArrowWriter;

    use super::super::chunk::Chunk;
    use super::*;

    #[test]
    fn the_bar_is_where_the_rows_are() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.parquet");
        let column: ArrayRef = Arc::new(Int32Array::from_iter_values(0..100));
        let batch = RecordBatch::try_from_iter([("a", column)]).unwrap();
        let mut writer = ArrowWriter::try_new(std::fs::File::create(&path).unwrap(), batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        let source = Source::new(&path, None, false).unwrap();
        let size = source.size().unwrap();
        let chunk = |from: usize| {
            let batch = batch.slice(from, 50);
            Ok(Chunk { batch, rows: Vec::new(), originals: Vec::new(), broken: Vec::new() })
        };
        let bar = ProgressBar::hidden();
        let mut chunks = advancing(Box::new(vec![chunk(0), chunk(50)].into_iter()), &source, &bar);
        assert!(chunks.next().is_some());
        assert_eq!(bar.position(), size / 2);
        assert_eq!(chunks.count(), 1);
        assert_eq!(bar.position(), size);
    }
}
