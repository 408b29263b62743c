//! Writing one file. The sync marker is made from the first block, so that equal rows make equal files.

use std::io::Write;

use arrow_array::RecordBatch;

use super::container::{Codec, MAGIC};
use super::cursor::{put_bytes, put_long};
use super::define::define;
use super::encode::Encoder;
use crate::file::{FileWrite, FileWriter};
use crate::types::DataField;
use crate::{Error, Result, ResultExt, checksum};

/// Encoded bytes of a block, as the reference cuts them.
const BLOCK_BYTES: usize = 64_000;

/// A file being written.
pub(super) struct Writer {
    sink: Box<dyn Write + Send>,
    fields: Vec<DataField>,
    schema: String,
    codec: Codec,
    sync: Option<[u8; 16]>,
    rows: i64,
    block: Vec<u8>,
    written: u64,
}

impl Writer {
    /// Starts a file.
    ///
    /// # Errors
    /// `Unsupported` naming the column or the codec that Avro files cannot have.
    pub(super) fn start(write: &FileWrite, sink: Box<dyn Write + Send>) -> Result<Self> {
        let schema = define(&write.fields)?;
        let codec = write.options.raw("avro.codec").unwrap_or(&write.compression);
        let codec = Codec::parse(codec, write.zstd_level)?;
        let fields = write.fields.clone();
        Ok(Self { sink, fields, schema, codec, sync: None, rows: 0, block: Vec::new(), written: 0 })
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        let result = self.sink.write_all(bytes);
        result.map_err(|e| Error::unavailable("avro file cannot be written").with_source(e))?;
        self.written += bytes.len() as u64;
        Ok(())
    }

    /// The sync marker; writes the header before the first block.
    fn sync(&mut self) -> Result<[u8; 16]> {
        if let Some(sync) = self.sync {
            return Ok(sync);
        }
        let seed = xxhash_rust::xxh3::xxh3_64(self.schema.as_bytes());
        let sync = xxhash_rust::xxh3::xxh3_128_with_seed(&self.block, seed).to_be_bytes();
        let mut header = MAGIC.to_vec();
        let schema = self.schema.as_bytes();
        let sum = checksum::of_schema(schema);
        let entries: [(&[u8], &[u8]); 3] = [
            (b"avro.schema", schema),
            (b"avro.codec", self.codec.name().as_bytes()),
            (checksum::HEADER_KEY, sum.as_bytes()),
        ];
        put_long(&mut header, entries.len() as i64);
        for (key, value) in entries {
            put_bytes(&mut header, key);
            put_bytes(&mut header, value);
        }
        header.push(0);
        header.extend_from_slice(&sync);
        self.put(&header)?;
        self.sync = Some(sync);
        Ok(sync)
    }

    fn flush_block(&mut self) -> Result<()> {
        let sync = self.sync()?;
        if self.rows == 0 {
            return Ok(());
        }
        let data = self.codec.compress(&self.block)?;
        let mut head = Vec::with_capacity(20);
        put_long(&mut head, self.rows);
        put_long(&mut head, data.len() as i64);
        self.put(&head)?;
        self.put(&data)?;
        self.put(&sync)?;
        self.rows = 0;
        self.block.clear();
        Ok(())
    }
}

impl FileWriter for Writer {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let fields = std::mem::take(&mut self.fields);
        let result = Encoder::columns(batch.columns(), &fields).and_then(|encoders| {
            for i in 0..batch.num_rows() {
                for (encoder, field) in encoders.iter().zip(&fields) {
                    encoder.write(i, &mut self.block).context("column", &field.name)?;
                }
                self.rows += 1;
                if self.block.len() >= BLOCK_BYTES {
                    self.flush_block()?;
                }
            }
            Ok(())
        });
        self.fields = fields;
        result
    }

    fn size(&self) -> u64 {
        self.written + self.block.len() as u64
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.flush_block()?;
        self.sink.flush().map_err(|e| Error::unavailable("avro file cannot be written").with_source(e))
    }
}
