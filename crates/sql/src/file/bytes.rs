//! The bytes of a file, unpacked, for those who read and block.

use std::io::{self, BufReader, Read, Seek, SeekFrom};
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

/// A file read from some place to its end, piece by piece.
pub(super) struct Pieces {
    handle: Handle,
    storage: Arc<dyn Storage>,
    path: String,
    size: u64,
    at: u64,
    piece: Bytes,
}

impl Pieces {
    /// The bytes from `at` on. What reads must be on a thread that may block, of the runtime whose handle is given.
    pub(super) fn new(handle: Handle, place: &Place, at: u64) -> Self {
        let Place { storage, path, size, .. } = place.clone();
        Self { handle, storage, path, size, at, piece: Bytes::new() }
    }
}

impl Seek for Pieces {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let begin = self.at - self.piece.len() as u64;
        let place = match to {
            SeekFrom::Start(place) => Some(place),
            SeekFrom::End(behind) => self.size.checked_add_signed(behind),
            SeekFrom::Current(behind) => begin.checked_add_signed(behind),
        };
        let place = place.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "a place before the file"))?;
        match place.checked_sub(begin).and_then(|ahead| usize::try_from(ahead).ok()) {
            Some(ahead) if ahead <= self.piece.len() => self.piece.advance(ahead),
            _ => {
                self.piece.clear();
                self.at = place;
            }
        }
        Ok(place)
    }
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
    let pieces = Pieces::new(handle, place, 0);
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
