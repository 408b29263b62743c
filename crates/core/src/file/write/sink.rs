//! Between an encoder, which writes to a [`Write`], and a store, which takes bytes asynchronously.

use std::io::Write;
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;

/// Bytes that were encoded and not yet sent. Clones share them.
#[derive(Clone, Default)]
pub(super) struct Sink(Arc<Mutex<Vec<u8>>>);

impl Sink {
    /// How many bytes wait.
    pub(super) fn waiting(&self) -> usize {
        self.0.lock().len()
    }

    /// Takes the bytes that wait.
    pub(super) fn take(&self) -> Bytes {
        Bytes::from(std::mem::take(&mut *self.0.lock()))
    }
}

impl Write for Sink {
    fn write(&mut self, buf: &[u8]) -> std::io::Result<usize> {
        self.0.lock().extend_from_slice(buf);
        Ok(buf.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
