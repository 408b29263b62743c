//! The bytes of a file, unpacked, for those who read and block.

use std::io::{self, BufReader, Read};
use std::sync::Arc;

use bytes::{Buf, Bytes};
use flate2::read::MultiGzDecoder;
use linn::core::Storage;
use linn::{Error, Result};
use tokio::runtime::Handle;

use super::options::Packing;
use super::place::Place;

/// Bytes of one read.
const CHUNK: u64 = 4 << 20;

/// A file read from front to end, piece by piece.
struct Pieces {
    handle: Handle,
    storage: Arc<dyn Storage>,
    path: String,
    size: u64,
    at: u64,
    piece: Bytes,
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.piece.is_empty() && self.at < self.size {
            let end = (self.at + CHUNK).min(self.size);
            let read = self.storage.read(&self.path, Some(self.at..end));
            self.piece = self.handle.block_on(read).map_err(io::Error::other)?;
            self.at = end;
        }
        let taken = self.piece.len().min(buffer.len());
        if let Some(buffer) = buffer.get_mut(..taken) {
            self.piece.copy_to_slice(buffer);
        }
        Ok(taken)
    }
}

/// Opens a file. Must be called on a thread that may block, of a runtime whose handle is given.
///
/// # Errors
/// `Corrupt` when it is not packed as said.
pub(super) fn open(handle: Handle, place: &Place, packing: Packing) -> Result<BufReader<Box<dyn Read>>> {
    let Place { storage, path, size, .. } = place.clone();
    let pieces = Pieces { handle, storage, path, size, at: 0, piece: Bytes::new() };
    let reader: Box<dyn Read> = match packing {
        Packing::Plain => Box::new(pieces),
        Packing::Gzip => Box::new(MultiGzDecoder::new(pieces)),
        Packing::Zstd => Box::new(zstd::Decoder::new(pieces).map_err(|e| failed(e, place))?),
    };
    Ok(BufReader::with_capacity(1 << 16, reader))
}

/// What reading a file failed of: an error of the store as it was, else damage.
pub(super) fn failed(error: io::Error, place: &Place) -> Error {
    let text = error.to_string();
    match error.into_inner().map(|inner| inner.downcast::<Error>()) {
        Some(Ok(ours)) => *ours,
        _ => Error::corrupt(format!("the file cannot be read: {text}")).with("file", &place.uri),
    }
}
