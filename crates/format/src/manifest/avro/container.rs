//! Avro object containers: header with schema and codec, then blocks, each followed by the sync marker.

use super::codec::Decoder;
use super::{Codec, Cursor, Type, put_bytes, put_long};
use crate::{Error, Result, checksum};

pub(super) const MAGIC: [u8; 4] = *b"Obj\x01";
/// Size at which a block is closed, as the Java library does.
const BLOCK_SIZE: usize = 64_000;

/// A container being read.
pub(in crate::manifest) struct Container<'a> {
    schema: Type,
    decoder: Decoder,
    sync: &'a [u8],
    cursor: Cursor<'a>,
    /// Bytes behind the header.
    blocks: usize,
}

impl<'a> Container<'a> {
    /// Reads the header.
    pub(in crate::manifest) fn open(bytes: &'a [u8]) -> Result<Self> {
        let mut cursor = Cursor::new(bytes);
        if cursor.take(MAGIC.len())? != MAGIC {
            return Err(Error::corrupt("not an avro container"));
        }
        let (mut schema, mut codec, mut sum) = (None, Codec::Null, None);
        loop {
            let count = cursor.block()?;
            if count == 0 {
                break;
            }
            for _ in 0..count {
                let (key, value) = (cursor.bytes()?, cursor.bytes()?);
                match key {
                    b"avro.schema" => schema = Some(value),
                    b"avro.codec" => codec = named(value)?,
                    checksum::HEADER_KEY => sum = Some(value),
                    _ => {}
                }
            }
        }
        let schema = schema.ok_or_else(|| Error::corrupt("avro container has no schema"))?;
        checksum::check_schema(schema, sum)?;
        let schema = Type::parse(schema)?;
        let sync = cursor.take(16)?;
        let blocks = cursor.remaining();
        Ok(Self { schema, decoder: Decoder::new(codec), sync, cursor, blocks })
    }

    /// How much of the file's blocks has been taken, from 0 to 1.
    pub(in crate::manifest) fn taken(&self) -> f64 {
        1.0 - self.cursor.remaining() as f64 / self.blocks.max(1) as f64
    }

    /// The schema that the file was written with.
    pub(in crate::manifest) fn schema(&self) -> &Type {
        &self.schema
    }

    /// The next block decompressed into `buffer`, and how many records it has; `None` at the end of the file.
    pub(in crate::manifest) fn block(&mut self, buffer: &mut Vec<u8>) -> Result<Option<usize>> {
        if self.cursor.remaining() == 0 {
            return Ok(None);
        }
        let bad = || Error::corrupt("avro block has a bad size");
        let count = usize::try_from(self.cursor.long()?).map_err(|_| bad())?;
        let data = self.cursor.bytes()?;
        if self.cursor.take(16)? != self.sync {
            return Err(Error::corrupt("avro block does not end in the sync marker"));
        }
        self.decoder.decode(data, buffer)?;
        // A record of a manifest takes at least a byte.
        if count > buffer.len() {
            return Err(bad());
        }
        Ok(Some(count))
    }
}

fn named(value: &[u8]) -> Result<Codec> {
    match value {
        b"null" => Ok(Codec::Null),
        b"deflate" => Ok(Codec::Deflate),
        b"snappy" => Ok(Codec::Snappy),
        b"zstandard" => Ok(Codec::Zstd(1)),
        other => Err(Error::corrupt(format!("avro codec {:?} is not known", String::from_utf8_lossy(other)))),
    }
}

/// A container being written. The sync marker is a hash of schema and first block, so equal content gives equal files.
pub(in crate::manifest) struct Writer {
    schema: &'static str,
    codec: Codec,
    out: Vec<u8>,
    sync: Option<[u8; 16]>,
    block: Vec<u8>,
    records: i64,
}

impl Writer {
    pub(in crate::manifest) fn new(schema: &'static str, codec: Codec) -> Self {
        Self { schema, codec, out: Vec::new(), sync: None, block: Vec::new(), records: 0 }
    }

    /// Appends one record, which `encode` puts at the end of the buffer.
    pub(in crate::manifest) fn record(&mut self, encode: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
        encode(&mut self.block);
        self.records += 1;
        if self.block.len() >= BLOCK_SIZE {
            self.flush()?;
        }
        Ok(())
    }

    /// Bytes so far; those of the open block count as they are.
    pub(in crate::manifest) fn size(&self) -> usize {
        self.out.len() + self.block.len()
    }

    /// The whole file.
    pub(in crate::manifest) fn finish(mut self) -> Result<Vec<u8>> {
        if self.records > 0 {
            self.flush()?;
        } else {
            self.header();
        }
        Ok(self.out)
    }

    fn header(&mut self) -> [u8; 16] {
        if let Some(sync) = self.sync {
            return sync;
        }
        let mut hash = xxhash_rust::xxh3::Xxh3::new();
        hash.update(self.schema.as_bytes());
        hash.update(&self.block);
        let sync = hash.digest128().to_be_bytes();
        self.out.extend_from_slice(&MAGIC);
        put_long(&mut self.out, 3);
        put_bytes(&mut self.out, b"avro.schema");
        put_bytes(&mut self.out, self.schema.as_bytes());
        put_bytes(&mut self.out, b"avro.codec");
        put_bytes(&mut self.out, self.codec.avro_name().as_bytes());
        put_bytes(&mut self.out, checksum::HEADER_KEY);
        put_bytes(&mut self.out, checksum::of_schema(self.schema.as_bytes()).as_bytes());
        put_long(&mut self.out, 0);
        self.out.extend_from_slice(&sync);
        self.sync = Some(sync);
        sync
    }

    fn flush(&mut self) -> Result<()> {
        let sync = self.header();
        put_long(&mut self.out, self.records);
        put_bytes(&mut self.out, &self.codec.compress(&self.block)?);
        self.out.extend_from_slice(&sync);
        self.block.clear();
        self.records = 0;
        Ok(())
    }
}
