//! Streaming the batches of one file, block after block.

use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::SchemaRef;
use bytes::{Buf, Bytes};

use super::container::Container;
use super::cursor::Cursor;
use super::decode::Record;
use super::schema::Schema;
use crate::file::select::Selection;
use crate::file::stream::Batches;
use crate::file::{BatchStream, FileRead, RangeReader};
use crate::{Error, Result};

/// A batch ends after this many encoded bytes, so that wide rows do not pile up.
const BATCH_BYTES: usize = 64 << 20;

/// Opens a file.
///
/// # Errors
/// `Corrupt` with the path when it is not an Avro file that holds the columns asked for.
pub(super) async fn open(source: Arc<dyn RangeReader>, read: FileRead) -> Result<BatchStream> {
    let path = source.path().to_owned();
    Reader::stream(Reader::open(source, read).await, path)
}

struct Reader {
    container: Container,
    record: Record,
    in_union: Option<i64>,
    schema: SchemaRef,
    selection: Selection,
    batch_size: usize,
    /// What is left of the current block.
    rows: usize,
    data: Bytes,
    done: bool,
}

impl Batches for Reader {
    async fn next(&mut self) -> Result<Option<RecordBatch>> {
        while !self.done {
            self.fill().await?;
            let rows = self.record.len();
            if rows == 0 {
                continue;
            }
            let options = RecordBatchOptions::new().with_row_count(Some(rows));
            let batch = RecordBatch::try_new_with_options(self.schema.clone(), self.record.finish()?, &options);
            let batch = batch.map_err(|e| Error::corrupt("avro column has a null where none may be").with_source(e))?;
            if let Some(batch) = self.selection.apply(batch)? {
                return Ok(Some(batch));
            }
        }
        Ok(None)
    }
}

impl Reader {
    async fn open(source: Arc<dyn RangeReader>, read: FileRead) -> Result<Self> {
        let (container, schema) = Container::open(source).await?;
        let (in_union, fields) = root(&schema)?;
        let selection = Selection::new(&read);
        let schema = selection.schema(|name| fields.iter().any(|(field, _)| field == name))?;
        let record = Record::new(fields, &read.fields, schema.fields())?;
        let batch_size = read.batch_size.max(1);
        Ok(Self {
            container,
            record,
            in_union,
            schema,
            selection,
            batch_size,
            rows: 0,
            data: Bytes::new(),
            done: false,
        })
    }

    /// Decodes rows until a batch is full or the file ends.
    async fn fill(&mut self) -> Result<()> {
        let mut bytes = 0;
        while self.record.len() < self.batch_size && bytes < BATCH_BYTES {
            if self.rows == 0 {
                if !self.data.is_empty() {
                    return Err(Error::corrupt("avro block has bytes behind its last row"));
                }
                let Some(block) = self.container.next().await? else {
                    self.done = true;
                    return Ok(());
                };
                (self.rows, self.data) = (block.rows, block.data);
            }
            let want = self.rows.min(self.batch_size - self.record.len());
            bytes += self.decode(want)?;
        }
        Ok(())
    }

    /// Decodes up to `rows` rows of the current block; the bytes they took.
    fn decode(&mut self, rows: usize) -> Result<usize> {
        let mut cursor = Cursor::new(&self.data);
        let before = cursor.remaining();
        for _ in 0..rows {
            if self.in_union.is_some_and(|branch| cursor.long().ok() != Some(branch)) {
                return Err(Error::corrupt("avro row is null"));
            }
            self.record.read(&mut cursor)?;
            self.rows -= 1;
            if before - cursor.remaining() >= BATCH_BYTES {
                break;
            }
        }
        let used = before - cursor.remaining();
        self.data.advance(used);
        Ok(used)
    }
}

/// The fields of the record, and the branch it is in a union.
type Root<'a> = (Option<i64>, &'a [(String, Schema)]);

/// The record of rows; some writers make it a branch of a union with null.
fn root(schema: &Schema) -> Result<Root<'_>> {
    match schema {
        Schema::Record(fields) => Ok((None, fields)),
        Schema::Union(branches) => match branches.as_slice() {
            [Schema::Null, Schema::Record(fields)] => Ok((Some(1), fields)),
            [Schema::Record(fields), Schema::Null] => Ok((Some(0), fields)),
            _ => Err(Error::corrupt("avro file does not hold records")),
        },
        _ => Err(Error::corrupt("avro file does not hold records")),
    }
}
