//! Standard output. A reader that goes away (`| head`) is no error: it is noted, and the program ends well.

use std::io::{BufWriter, Stdout, Write};
use std::sync::atomic::{AtomicBool, Ordering};

static BROKEN: AtomicBool = AtomicBool::new(false);

/// Whether the reader of standard output has gone away.
pub(crate) fn is_broken() -> bool {
    BROKEN.load(Ordering::Relaxed)
}

/// Standard output, buffered.
pub(crate) struct Out(BufWriter<Stdout>);

impl Out {
    /// Standard output.
    pub(crate) fn new() -> Self {
        Self(BufWriter::with_capacity(1 << 16, std::io::stdout()))
    }
}

fn note<T>(result: std::io::Result<T>) -> std::io::Result<T> {
    if let Err(e) = &result
        && e.kind() == std::io::ErrorKind::BrokenPipe
    {
        BROKEN.store(true, Ordering::Relaxed);
    }
    result
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        note(self.0.write(bytes))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        note(self.0.flush())
    }
}
