//! Arrow, ORC and Avro files, decoded by the libraries of these formats on a thread that may block. What a library is given is checked
//! before, where it would end the process; its panics end the thread's work alone.

use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_avro::reader::ReaderBuilder;
use bytes::Bytes;
use datafusion::arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions, new_null_array};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::arrow::ipc::reader::{FileReader, StreamReader};
use linn::core::file::{Place as FilePlace, StoredFile};
use linn::format::file::orc::check;
use linn::{Error, Result};
use orc_rust::ArrowReaderBuilder;
use orc_rust::projection::ProjectionMask;
use orc_rust::reader::ChunkReader;
use tokio::runtime::Handle;

use super::aside::Sink;
use super::bytes::Pieces;
use super::options::FileFormat;
use super::place::Place;

/// Rows of a batch.
const ROWS: usize = 8192;

/// The columns that files have together. Must be called on a thread that may block.
///
/// # Errors
/// `Corrupt` for a file that is damaged or of another format, `Invalid` for files that have columns of one name and several types.
pub(super) fn infer(handle: &Handle, places: &[Place], format: FileFormat) -> Result<SchemaRef> {
    let schemas = places.iter().map(|place| {
        let file = Source::new(handle, place);
        Ok(match format {
            FileFormat::Orc => file.orc()?.schema(),
            FileFormat::Avro => file.avro()?.schema(),
            _ => match file.arrow()? {
                Arrow::File(reader) => reader.schema(),
                Arrow::Stream(reader) => reader.schema(),
            },
        })
    });
    merged(&schemas.collect::<Result<Vec<_>>>()?)
}

/// All columns of files.
///
/// # Errors
/// `Invalid` for files that have a column of the same name with different types.
pub(super) fn merged(schemas: &[SchemaRef]) -> Result<SchemaRef> {
    let plain = |schema: &SchemaRef| Schema::new(schema.fields().clone());
    let merged = Schema::try_merge(schemas.iter().map(plain));
    let different = "the files have a column of the same name with different types";
    Ok(Arc::new(merged.map_err(|e| Error::invalid(different).with_source(e))?))
}

/// Sends the rows of a file, with these columns; those that it lacks are null. False when nobody wants more.
///
/// # Errors
/// As [`infer`], and what the store yields.
pub(super) fn read(
    handle: &Handle,
    place: &Place,
    format: FileFormat,
    schema: &SchemaRef,
    sink: &Sink,
) -> Result<bool> {
    let file = Source::new(handle, place);
    match format {
        FileFormat::Orc => {
            let builder = file.orc()?;
            let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
            let mask = ProjectionMask::named_roots(builder.file_metadata().root_data_type(), &names);
            send(builder.with_projection(mask).with_batch_size(ROWS).build(), &file, schema, sink)
        }
        FileFormat::Avro => send(file.avro()?, &file, schema, sink),
        _ => match file.arrow()? {
            Arrow::File(reader) => send(*reader, &file, schema, sink),
            Arrow::Stream(reader) => send(*reader, &file, schema, sink),
        },
    }
}

/// Arrow IPC in its two forms.
enum Arrow {
    File(Box<FileReader<Noted>>),
    Stream(Box<StreamReader<BufReader<Noted>>>),
}

fn send<E>(
    batches: impl Iterator<Item = Result<RecordBatch, E>>,
    file: &Source,
    schema: &SchemaRef,
    sink: &Sink,
) -> Result<bool>
where
    E: std::error::Error + Send + Sync + 'static,
{
    for batch in batches {
        let batch = batch.map_err(|e| file.broken(e))?;
        if !sink.send(shaped(&batch, schema)?) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A batch with these columns.
fn shaped(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch> {
    let rows = batch.num_rows();
    let columns = schema.fields().iter().map(|field| match batch.column_by_name(field.name()) {
        Some(column) if column.data_type() == field.data_type() => Ok(Arc::clone(column)),
        Some(column) => Ok(cast(column, field.data_type())?),
        None => Ok(new_null_array(field.data_type(), rows)),
    });
    let columns = columns.collect::<Result<Vec<ArrayRef>>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    Ok(RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)?)
}

/// A file as the libraries read it.
#[derive(Clone)]
struct Source {
    handle: Handle,
    place: Place,
    /// What the store failed of, which the libraries would tell as damage.
    failure: Arc<Mutex<Option<Error>>>,
}

impl Source {
    fn new(handle: &Handle, place: &Place) -> Self {
        Self { handle: handle.clone(), place: place.clone(), failure: Arc::default() }
    }

    fn orc(&self) -> Result<ArrowReaderBuilder<Self>> {
        let Place { storage, path, size, .. } = self.place.clone();
        let file = StoredFile::new(storage, FilePlace { path, part: None }, size);
        self.handle.block_on(check(Arc::new(file))).map_err(|e| e.with("file", &self.place.uri))?;
        ArrowReaderBuilder::try_new(self.clone()).map_err(|e| self.broken(e))
    }

    fn avro(&self) -> Result<arrow_avro::reader::Reader<BufReader<Noted>>> {
        let input = BufReader::with_capacity(1 << 16, self.from(0));
        let reader = ReaderBuilder::new().with_batch_size(ROWS).build(input).map_err(|e| self.broken(e))?;
        // The library takes a block that is cut short for the end of the file; each block ends with the mark of the header.
        let mark = reader.avro_header().sync();
        let (size, length) = (self.place.size, mark.len() as u64);
        let end = self.get_bytes(size.saturating_sub(length), length.min(size)).map_err(|e| self.broken(e))?;
        match end == mark.as_slice() {
            true => Ok(reader),
            false => Err(Error::corrupt("the file ends within a block").with("file", &self.place.uri)),
        }
    }

    fn arrow(&self) -> Result<Arrow> {
        const MAGIC: &[u8] = b"ARROW1";
        let mut begin = Vec::new();
        let read = self.from(0).take(MAGIC.len() as u64).read_to_end(&mut begin);
        read.map_err(|e| self.broken(e))?;
        let input = self.from(0);
        Ok(match begin == MAGIC {
            true => Arrow::File(Box::new(FileReader::try_new(input, None).map_err(|e| self.broken(e))?)),
            false => Arrow::Stream(Box::new(StreamReader::try_new_buffered(input, None).map_err(|e| self.broken(e))?)),
        })
    }

    fn from(&self, at: u64) -> Noted {
        Noted { pieces: Pieces::new(self.handle.clone(), &self.place, at), file: self.clone() }
    }

    fn failed(&self, error: Error) -> io::Error {
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        io::Error::other("the file cannot be read")
    }

    /// The error of a library as ours.
    fn broken(&self, error: impl std::error::Error + Send + Sync + 'static) -> Error {
        let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner).take();
        let text = error.to_string();
        failure
            .unwrap_or_else(|| Error::corrupt(format!("the file cannot be read: {text}")))
            .with("file", &self.place.uri)
    }
}

impl ChunkReader for Source {
    type T = Noted;

    fn len(&self) -> u64 {
        self.place.size
    }

    fn get_read(&self, offset: u64) -> io::Result<Noted> {
        Ok(self.from(offset))
    }

    fn get_bytes(&self, offset: u64, length: u64) -> io::Result<Bytes> {
        let end = offset.checked_add(length).filter(|end| *end <= self.place.size);
        let end =
            end.ok_or_else(|| io::Error::new(io::ErrorKind::UnexpectedEof, "bytes beyond the end of the file"))?;
        let read = self.place.storage.read(&self.place.path, Some(offset..end));
        self.handle.block_on(read).map_err(|e| self.failed(e))
    }
}

/// A file read from front to end, which notes what the store failed of.
struct Noted {
    pieces: Pieces,
    file: Source,
}

impl Read for Noted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.pieces.read(buffer).map_err(|e| match e.downcast::<Error>() {
            Ok(ours) => self.file.failed(ours),
            Err(e) => e,
        })
    }
}

impl Seek for Noted {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.pieces.seek(to)
    }
}
