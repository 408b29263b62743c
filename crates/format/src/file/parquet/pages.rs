//! Pages of a row group, which get their checksums here, and most are compressed here.
//!
//! The library writes no checksums, and would compress each page into a buffer of its own, which it first makes too small, lets
//! grow to twice the size of the page, and then cuts: three copies of a page, and as many new pages of memory. It hands out pages
//! instead, header and body, and what it has noted of their sizes is put right when the column chunk goes into the file.
//!
//! A checksum is the CRC-32 of a page's body as it is in the file, levels and values (Parquet's `PageHeader.crc`).

use std::io::Read;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::{Buf, Bytes};
use parquet::arrow::arrow_writer::{ArrowColumnChunk, PageKey, PageStore, PageStoreArgs, PageStoreFactory};
use parquet::basic::{Compression, ZstdLevel};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, OffsetIndexBuilder};
use parquet::file::page_index::offset_index::OffsetIndexMetaData;
use parquet::file::reader::{ChunkReader, Length};
use zstd::bulk::Compressor;

use super::writing;
use crate::row::put_var_int;
use crate::{Error, Result};

/// Bytes of a page for which no buffer is kept.
const LARGE: usize = 2 << 20;
/// `PageType` of a dictionary in a page header.
const DICTIONARY: i32 = 2;

/// The pages of a row group, and what compresses them unless the library has.
#[derive(Debug)]
pub(super) struct Pages {
    chunks: Mutex<Vec<Arc<Mutex<Chunk>>>>,
    press: Option<Press>,
}

/// What compresses pages with zstd: compressors with their buffers, of which each thread that has a page takes one.
#[derive(Clone)]
pub(super) struct Press {
    level: ZstdLevel,
    spare: Arc<Mutex<Vec<(Compressor<'static>, Vec<u8>)>>>,
}

impl std::fmt::Debug for Press {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Press").field("level", &self.level).field("spare", &locked(&self.spare).len()).finish()
    }
}

impl Press {
    pub(super) fn new(level: ZstdLevel) -> Self {
        Self { level, spare: Arc::default() }
    }

    fn compressed(&self, body: &[u8]) -> parquet::errors::Result<Bytes> {
        let most = zstd::zstd_safe::compress_bound(body.len());
        let spare = locked(&self.spare).pop();
        let (mut compressor, mut buffer) = match spare {
            Some(spare) => spare,
            None => (Compressor::new(self.level.compression_level())?, Vec::new()),
        };
        let bytes = if most > LARGE {
            let mut own = Vec::with_capacity(most);
            compressor.compress_to_buffer(body, &mut own)?;
            own.shrink_to_fit();
            own.into()
        } else {
            buffer.clear();
            buffer.reserve(most);
            compressor.compress_to_buffer(body, &mut buffer)?;
            Bytes::copy_from_slice(&buffer)
        };
        locked(&self.spare).push((compressor, buffer));
        Ok(bytes)
    }
}

impl Pages {
    /// Pages that `press` compresses, where it is given; the library has compressed them otherwise.
    pub(super) fn new(press: Option<Press>) -> Self {
        Self { chunks: Mutex::default(), press }
    }

    /// Bytes of the pages of a column as the library handed them out, and as they are in the file.
    pub(super) fn sizes(&self, column: usize) -> (usize, usize) {
        let chunk = locked(&self.chunks).get(column).map(Arc::clone);
        chunk.map_or((0, 0), |chunk| {
            let chunk = locked(&chunk);
            (chunk.given, chunk.made)
        })
    }

    /// The pages of a column in the order of the file, and what is known of them.
    ///
    /// # Errors
    /// `Internal` when the library handed out other pages than it noted.
    pub(super) fn take(&self, column: usize, chunk: &mut ArrowColumnChunk) -> Result<(ColumnPages, ColumnCloseResult)> {
        let pages = locked(&self.chunks).get(column).map(|pages| std::mem::take(&mut *locked(pages)));
        let pages = pages.ok_or_else(|| Error::internal("a parquet column has no pages"))?;
        let noted = chunk.close_mut();
        let dictionary = (!pages.dictionary.is_empty()).then_some(0);
        let data_offset = as_i64(bytes_of(&pages.dictionary));
        let metadata: ColumnChunkMetaData = noted.metadata.clone();
        let uncompressed = metadata.uncompressed_size() + pages.grown;
        let codec = self.press.as_ref().map_or(metadata.compression(), |press| Compression::ZSTD(press.level));
        let metadata = metadata
            .into_builder()
            .set_compression(codec)
            .set_total_compressed_size(as_i64(pages.made))
            .set_total_uncompressed_size(uncompressed)
            .set_dictionary_page_offset(dictionary)
            .set_data_page_offset(data_offset)
            .build()
            .map_err(writing)?;
        let offset_index = match noted.offset_index.take() {
            Some(index) => Some(pages.placed(&index, data_offset)?),
            None => None,
        };
        let close = ColumnCloseResult {
            bytes_written: pages.made as u64,
            rows_written: noted.rows_written,
            metadata,
            bloom_filter: noted.bloom_filter.take(),
            column_index: noted.column_index.take(),
            offset_index,
        };
        let blobs: Vec<Bytes> = pages.dictionary.into_iter().chain(pages.data).collect();
        Ok((ColumnPages { len: close.bytes_written, blobs: Mutex::new(Some(blobs)) }, close))
    }
}

impl PageStoreFactory for Pages {
    fn create(&self, args: &PageStoreArgs<'_>) -> parquet::errors::Result<Box<dyn PageStore>> {
        let mut chunks = locked(&self.chunks);
        if args.column_index() != chunks.len() {
            return Err(ParquetError::General("columns are made out of order".to_owned()));
        }
        let chunk = Arc::<Mutex<Chunk>>::default();
        chunks.push(Arc::clone(&chunk));
        Ok(Box::new(Store { chunk, press: self.press.clone() }))
    }
}

/// The pages of a column so far: headers and bodies, one after the other.
#[derive(Debug, Default)]
struct Chunk {
    /// A header whose body is to come.
    header: Option<Bytes>,
    dictionary: Vec<Bytes>,
    data: Vec<Bytes>,
    /// Bytes that were handed out.
    given: usize,
    /// Bytes of what they became.
    made: usize,
    /// By how much headers became longer.
    grown: i64,
}

impl Chunk {
    /// Where the data pages are, for the rows that were noted.
    fn placed(&self, noted: &OffsetIndexMetaData, start: i64) -> Result<OffsetIndexMetaData> {
        let (pages, locations) = (self.data.chunks_exact(2), noted.page_locations());
        if pages.len() != locations.len() {
            return Err(Error::internal("a parquet column has other pages than its index"));
        }
        let (mut index, mut offset) = (OffsetIndexBuilder::new(), start);
        let nexts = locations.iter().skip(1).map(|next| Some(next.first_row_index)).chain([None]);
        for (at, ((page, location), next)) in pages.zip(locations).zip(nexts).enumerate() {
            let size = bytes_of(page);
            index.append_offset_and_size(offset, i32::try_from(size).map_err(|_| too_large())?);
            index.append_row_count(next.map_or(0, |next| next - location.first_row_index));
            let unencoded = noted.unencoded_byte_array_data_bytes().and_then(|bytes| bytes.get(at)).copied();
            index.append_unencoded_byte_array_data_bytes(unencoded);
            offset += as_i64(size);
        }
        Ok(index.build())
    }
}

/// What the library gives the pages of one column to.
struct Store {
    chunk: Arc<Mutex<Chunk>>,
    press: Option<Press>,
}

impl PageStore for Store {
    fn put(&mut self, value: Bytes) -> parquet::errors::Result<PageKey> {
        let mut chunk = locked(&self.chunk);
        chunk.given += value.len();
        match chunk.header.take() {
            None => chunk.header = Some(value),
            Some(header) => {
                let body = match &self.press {
                    Some(press) => press.compressed(&value)?,
                    None => value,
                };
                let (page_type, made) =
                    header_of(&header, &body).ok_or_else(|| ParquetError::General("a page header".to_owned()))?;
                chunk.grown += as_i64(made.len()) - as_i64(header.len());
                chunk.made += made.len() + body.len();
                let pages = if page_type == DICTIONARY { &mut chunk.dictionary } else { &mut chunk.data };
                pages.extend([made, body]);
            }
        }
        Ok(PageKey::new(0))
    }

    fn take(&mut self, _key: PageKey) -> parquet::errors::Result<Bytes> {
        Err(ParquetError::General("pages are taken as a whole".to_owned()))
    }

    fn memory_size(&self) -> usize {
        locked(&self.chunk).made
    }
}

/// The type of a page, and its header with the size and the checksum of its body. A header of the library's begins with three
/// numbers: its type, the size of the page, and that of its body. The checksum is the fourth.
fn header_of(header: &[u8], body: &[u8]) -> Option<(i32, Bytes)> {
    let mut fields = Fields(header);
    let page_type = fields.next_i32()?;
    fields.next_i32()?;
    let kept = header.get(..header.len() - fields.0.len())?;
    fields.next_i32()?;
    let mut made = Vec::with_capacity(header.len() + 10);
    made.extend_from_slice(kept);
    put_next_i32(&mut made, i32::try_from(body.len()).ok()?);
    put_next_i32(&mut made, crc32fast::hash(body).cast_signed());
    // The number of the field after it is given as the distance from the one before, which is one less now.
    let (next, rest) = fields.0.split_first()?;
    made.push(next.checked_sub(ONE_FIELD).filter(|next| *next > ONE_FIELD)?);
    made.extend_from_slice(rest);
    Some((page_type, made.into()))
}

/// Distance between the numbers of neighbouring fields, in the byte that begins a field.
pub(super) const ONE_FIELD: u8 = 0x10;
/// An i32 whose number is one above that of the field before it.
const NEXT_I32: u8 = ONE_FIELD | 5;

fn put_next_i32(into: &mut Vec<u8>, value: i32) {
    into.push(NEXT_I32);
    put_var_int(into, u64::from(((value << 1) ^ (value >> 31)).cast_unsigned()));
}

/// What is left of a struct in Thrift's compact protocol.
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl Fields<'_> {
    pub(super) fn next_i32(&mut self) -> Option<i32> {
        (self.0.try_get_u8().ok()? == NEXT_I32).then_some(())?;
        let mut zigzag = 0_u32;
        for shift in (0..32).step_by(7) {
            let byte = self.0.try_get_u8().ok()?;
            zigzag |= u32::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some((zigzag >> 1).cast_signed() ^ -(zigzag & 1).cast_signed());
            }
        }
        None
    }
}

/// The pages of a column in the order of the file; they can be read once, and are let go of as they are.
pub(super) struct ColumnPages {
    len: u64,
    blobs: Mutex<Option<Vec<Bytes>>>,
}

impl Length for ColumnPages {
    fn len(&self) -> u64 {
        self.len
    }
}

impl ChunkReader for ColumnPages {
    type T = Reading;

    fn get_read(&self, _start: u64) -> parquet::errors::Result<Reading> {
        let blobs = locked(&self.blobs).take().unwrap_or_default();
        Ok(Reading { blobs: blobs.into_iter(), current: Bytes::new() })
    }

    fn get_bytes(&self, _start: u64, _length: usize) -> parquet::errors::Result<Bytes> {
        Err(ParquetError::General("pages are read in their order".to_owned()))
    }
}

/// Bytes of pages, one after the other.
pub(super) struct Reading {
    blobs: std::vec::IntoIter<Bytes>,
    current: Bytes,
}

impl Read for Reading {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        while self.current.is_empty() {
            match self.blobs.next() {
                Some(next) => self.current = next,
                None => return Ok(0),
            }
        }
        let len = self.current.len().min(into.len());
        self.current.split_to(len).copy_to_slice(&mut into[..len]);
        Ok(len)
    }
}

fn bytes_of(blobs: &[Bytes]) -> usize {
    blobs.iter().map(Bytes::len).sum()
}

fn as_i64(bytes: usize) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

fn too_large() -> Error {
    Error::internal("a parquet page of more than 2 GiB")
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
