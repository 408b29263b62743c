//! Between an encoder, which writes to a [`Write`], and a store, which takes bytes asynchronously.

use std::io::Write;
use std::mem;
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;

/// Bytes of a segment. A file is encoded a row group at a time, so one buffer for what waits would grow, and move what is in
/// it, up to the size of a row group.
const SEGMENT: usize = 1 << 20;

/// Bytes that were encoded and not yet sent. Clones share them.
#[derive(Clone, Default)]
pub(super) struct Sink(Arc<Mutex<Segments>>);

#[derive(Default)]
struct Segments {
    full: Vec<Bytes>,
    open: Vec<u8>,
}

impl Sink {
    /// Whether there are bytes enough to be worth a request.
    pub(super) fn is_full(&self) -> bool {
        !self.0.lock().full.is_empty()
    }

    /// Takes the bytes that wait.
    pub(super) fn take(&self) -> Vec<Bytes> {
        let Segments { mut full, open } = mem::take(&mut *self.0.lock());
        if !open.is_empty() {
            full.push(Bytes::from(open));
        }
        full
    }
}

impl Write for Sink {
    fn write(&mut self, buf: &[u8]) -> std::io::Result<usize> {
        let mut segments = self.0.lock();
        if segments.open.capacity() == 0 {
            segments.open.reserve_exact(SEGMENT);
        }
        let room = segments.open.capacity() - segments.open.len();
        let taken = buf.len().min(room);
        segments.open.extend_from_slice(buf.get(..taken).unwrap_or_default());
        if taken == room {
            let full = mem::take(&mut segments.open);
            segments.full.push(Bytes::from(full));
        }
        Ok(taken)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_out_as_they_went_in() {
        let mut sink = Sink::default();
        let bytes: Vec<u8> = (0..3 * SEGMENT + 17).map(|i| (i / 7) as u8).collect();
        assert!(sink.take().is_empty());
        for part in bytes.chunks(SEGMENT / 3 + 1) {
            sink.write_all(part).unwrap();
        }
        assert!(sink.is_full());
        let taken = sink.take();
        assert!(taken.iter().all(|segment| segment.len() <= SEGMENT));
        assert_eq!(taken.concat(), bytes);
        assert!(sink.take().is_empty() && !sink.is_full());
    }
}
