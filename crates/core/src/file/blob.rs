//! Columns of blobs, whose values lie in files of their own beside the rows' other columns (spec: format.md C.14).
//!
//! Several blob files may hold values of one row: the newest that has one wins, a placeholder leaves it to older ones.
//! Values are read when their batch is due, and batches end early where values are large.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::builder::BinaryBuilder;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Schema, SchemaRef};
use bytes::Bytes;
use futures::StreamExt;
use linn_format::file::blob::{BlobEntry, descriptor, entries, payload};
use linn_format::file::{BATCH_BYTES, DataFileMeta};
use linn_format::options::table::blob::{BLOB_AS_DESCRIPTOR, BLOB_DESCRIPTOR_FIELD, BLOB_VIEW_FIELD};
use linn_format::row::BinaryRow;
use linn_format::types::{DataField, Kind, arrow_field};
use linn_format::{BatchStream, Error, RangeReader, Result, ResultExt};

use super::{StoredFile, place_of};
use crate::table::Table;

/// Values that lie together are read with one request up to this size.
const REQUEST_BYTES: u64 = 8 << 20;

/// Whether a file holds blobs.
pub(super) fn is_blob(file: &DataFileMeta) -> bool {
    file.file_name.ends_with(".blob")
}

/// Refuses columns of blobs that are not kept in blob files and cannot be followed.
///
/// # Errors
/// `Unsupported` naming the column.
pub(crate) fn check(table: &Table, fields: &[DataField]) -> Result<()> {
    let options = table.options();
    let as_descriptor = options.is_on(&BLOB_AS_DESCRIPTOR)?;
    for field in fields.iter().filter(|f| f.data_type.kind == Kind::Blob) {
        let (descriptors, views) = (options.list(&BLOB_DESCRIPTOR_FIELD), options.list(&BLOB_VIEW_FIELD));
        let named = |list: &[&str]| list.contains(&field.name.as_str());
        let inline = named(&descriptors) || table.schema().is_primary_key_table();
        let what = match () {
            () if named(&views) => "feature blobs of other tables (blob-view-field)",
            () if inline && !as_descriptor => "feature following blob descriptors",
            () => continue,
        };
        return Err(Error::unsupported(what)
            .with("table", table.name())
            .with("column", &field.name)
            .with_hint("leave the column out, or set blob-as-descriptor to true for columns of descriptors"));
    }
    Ok(())
}

/// The values of one column of the rows `first..first + rows`, by row id, from files of the same bucket; null where no
/// file has any.
///
/// # Errors
/// `Corrupt` when a file's entries are not its rows, `Unsupported` for lists and maps of blobs.
pub(super) async fn stream(
    table: &Table,
    partition: &BinaryRow,
    bucket: i32,
    field: &DataField,
    files: &[Arc<DataFileMeta>],
    rows: Range<i64>,
    batch_size: usize,
) -> Result<BatchStream> {
    if field.data_type.kind != Kind::Blob {
        return Err(Error::unsupported(format!("blobs in {}", field.data_type)).with("column", &field.name));
    }
    let mut oldest_first = files.to_vec();
    oldest_first.sort_by_key(|file| file.max_sequence_number);
    let count = usize::try_from(rows.end - rows.start).map_err(|_| Error::corrupt("a file has too many rows"))?;
    let mut places = vec![None; count];
    let mut sources = Vec::with_capacity(files.len());
    for file in &oldest_first {
        let source = Source::open(table, partition, bucket, file)?;
        let (found, first) = (entries(&source.file).await?, file.first_row_id.unwrap_or(rows.start));
        if i64::try_from(found.len()) != Ok(file.row_count) {
            return Err(Error::corrupt("a blob file has another number of rows").with("file", &file.file_name));
        }
        for (row, entry) in (first..).zip(found).filter(|(_, entry)| *entry != BlobEntry::Placeholder) {
            let place = usize::try_from(row - rows.start).ok().and_then(|at| places.get_mut(at));
            let place = place.ok_or_else(|| {
                Error::corrupt("a blob file has rows that no other file has").with("file", &file.file_name)
            })?;
            *place = match entry {
                BlobEntry::Value(range) => Some((sources.len(), range)),
                _ => None,
            };
        }
        sources.push(source);
    }
    let column = Column {
        as_descriptor: table.options().is_on(&BLOB_AS_DESCRIPTOR)?,
        schema: Arc::new(Schema::new(vec![arrow_field(field)?])),
        batch_size: batch_size.max(1),
        sources,
        places,
        next: 0,
    };
    let batches = futures::stream::try_unfold(column, |mut column| async move {
        let batch = column.batch().await?;
        Ok(batch.map(|batch| (batch, column)))
    });
    Ok(batches.boxed())
}

struct Source {
    file: StoredFile,
    uri: String,
}

impl Source {
    fn open(table: &Table, partition: &BinaryRow, bucket: i32, file: &DataFileMeta) -> Result<Self> {
        let place = place_of(table, partition, bucket, file)?;
        let uri = format!("{}/{}", table.storage().root().trim_end_matches('/'), place.path);
        let size = u64::try_from(file.file_size).map_err(|_| Error::corrupt("a file has a negative size"))?;
        Ok(Self { file: StoredFile::new(Arc::clone(table.storage()), place, size), uri })
    }
}

struct Column {
    schema: SchemaRef,
    as_descriptor: bool,
    batch_size: usize,
    sources: Vec<Source>,
    /// For each row the file that has its value, and where.
    places: Vec<Option<(usize, Range<u64>)>>,
    next: usize,
}

impl Column {
    async fn batch(&mut self) -> Result<Option<RecordBatch>> {
        let end = self.next + self.rows_of_batch();
        let places = self.places.get(self.next..end).unwrap_or_default();
        if places.is_empty() {
            return Ok(None);
        }
        let mut values = BinaryBuilder::with_capacity(places.len(), 0);
        let mut run = Run::default();
        for (i, place) in places.iter().enumerate() {
            match place {
                None => values.append_null(),
                Some((source, range)) if self.as_descriptor => {
                    values.append_value(descriptor(&self.sources[*source].uri, &BlobEntry::content(range)));
                }
                Some((source, range)) => {
                    if !run.holds(*source, range) {
                        run = Run::read(&self.sources, *source, places.get(i..).unwrap_or_default()).await?;
                    }
                    values.append_value(run.value(range).context("path", self.sources[*source].file.path())?);
                }
            }
        }
        self.next = end;
        let column: ArrayRef = Arc::new(values.finish());
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), vec![column]);
        Ok(Some(batch.map_err(|e| Error::corrupt("a blob is null where none may be").with_source(e))?))
    }

    /// As many rows as fit into a batch, at least one while there are some.
    fn rows_of_batch(&self) -> usize {
        let mut bytes = 0u64;
        let left = self.places.get(self.next..).unwrap_or_default();
        let fits = left.iter().take(self.batch_size).take_while(|place| {
            let before = bytes;
            bytes = bytes.saturating_add(place.as_ref().map_or(0, |(_, range)| range.end - range.start));
            self.as_descriptor || before == 0 || bytes <= BATCH_BYTES as u64
        });
        fits.count()
    }
}

/// Bytes that were read at once.
#[derive(Default)]
struct Run {
    source: usize,
    range: Range<u64>,
    bytes: Bytes,
}

impl Run {
    /// Reads the first of these values with those that lie behind it.
    async fn read(sources: &[Source], source: usize, places: &[Option<(usize, Range<u64>)>]) -> Result<Self> {
        let mut following = places.iter().flatten().take_while(|(of, _)| *of == source).map(|(_, range)| range.clone());
        let mut range = following.next().unwrap_or_default();
        for next in following {
            if next.start != range.end || next.end - range.start > REQUEST_BYTES {
                break;
            }
            range.end = next.end;
        }
        if range.end - range.start > i32::MAX.unsigned_abs().into() {
            return Err(Error::unsupported("a blob of more than 2 GiB in one column")
                .with("path", sources[source].file.path())
                .with_hint("set blob-as-descriptor to true to get where it lies"));
        }
        let bytes = sources[source].file.read(range.clone()).await?;
        Ok(Self { source, range, bytes })
    }

    fn holds(&self, source: usize, range: &Range<u64>) -> bool {
        self.source == source && self.range.start <= range.start && range.end <= self.range.end
    }

    fn value(&self, range: &Range<u64>) -> Result<Bytes> {
        // Within what was read, hence within usize.
        let (start, end) = (range.start - self.range.start, range.end - self.range.start);
        payload(&self.bytes.slice(start as usize..end as usize))
    }
}

#[cfg(test)]
mod tests;
