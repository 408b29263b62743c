//! A lookup file on local disk, which goes away with its last user.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use bytes::Bytes;
use linn_format::lookup::{BlockSource, LookupReader, LookupWriter, WriteOptions};
use linn_format::row::CompactOrder;
use linn_format::{Error, Result};

use crate::seam::Env;

/// A lookup file that can be asked.
pub(crate) struct LocalFile {
    place: Place,
    len: u64,
    reader: LookupReader<Disk>,
}

/// The path of a local file, which is removed when this is dropped.
struct Place(PathBuf);

/// A lookup file being written to local disk.
pub(super) struct LocalWriter {
    place: Place,
    writer: LookupWriter<BufWriter<File>>,
}

struct Disk {
    file: File,
    path: PathBuf,
}

impl LocalFile {
    /// A local copy of a whole lookup file, which is read once to see that it is sound.
    ///
    /// # Errors
    /// `Unavailable` when the disk is full or cannot be written, `Corrupt` when it is no lookup file or is damaged.
    pub(super) fn copy(env: &Env, bytes: &[u8], order: CompactOrder) -> Result<Self> {
        let (place, mut file) = Place::create(env)?;
        file.write_all(bytes).map_err(|e| disk(&place.0, e))?;
        drop(file);
        let copy = Self::open(place, order)?;
        copy.reader.check()?;
        Ok(copy)
    }

    fn open(place: Place, order: CompactOrder) -> Result<Self> {
        let file = File::open(&place.0).map_err(|e| disk(&place.0, e))?;
        let len = file.metadata().map_err(|e| disk(&place.0, e))?.len();
        let reader = LookupReader::open(Disk { file, path: place.0.clone() }, len, order)?;
        Ok(Self { place, len, reader })
    }

    /// Bytes on disk.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// What is asked.
    pub(super) fn reader(&self) -> &LookupReader<impl BlockSource + use<>> {
        &self.reader
    }

    /// Removes the file; whoever asks it goes on.
    pub(super) fn remove(&self) {
        self.place.remove();
    }

    /// All bytes, to be put beside the data file.
    ///
    /// # Errors
    /// `Unavailable` when the disk cannot be read.
    pub(super) fn bytes(&self) -> Result<Bytes> {
        std::fs::read(&self.place.0).map(Bytes::from).map_err(|e| disk(&self.place.0, e))
    }
}

impl LocalWriter {
    /// Starts a file of `entries` keys.
    pub(super) fn create(env: &Env, entries: u64, options: WriteOptions) -> Result<Self> {
        let (place, file) = Place::create(env)?;
        Ok(Self { place, writer: LookupWriter::new(BufWriter::new(file), entries, options) })
    }

    /// Appends an entry; keys ascend.
    pub(super) fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.writer.put(key, value)
    }

    /// Ends the file.
    pub(super) fn finish(self, order: CompactOrder) -> Result<LocalFile> {
        self.writer.finish()?;
        LocalFile::open(self.place, order)
    }
}

impl Place {
    fn create(env: &Env) -> Result<(Self, File)> {
        std::fs::create_dir_all(&env.spill_dir).map_err(|e| disk(&env.spill_dir, e))?;
        let path = env.spill_dir.join(format!("lookup-{}.sst", env.ids.uuid()));
        let file = File::create(&path).map_err(|e| disk(&path, e))?;
        Ok((Self(path), file))
    }
}

impl Place {
    fn remove(&self) {
        std::fs::remove_file(&self.0).ok();
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.remove();
    }
}

impl BlockSource for Disk {
    fn read(&self, offset: u64, len: usize) -> Result<Bytes> {
        let mut bytes = vec![0; len];
        match self.file.read_exact_at(&mut bytes, offset) {
            Ok(()) => Ok(bytes.into()),
            Err(e) if e.kind() == std::io::ErrorKind::UnexpectedEof => {
                Err(Error::corrupt("a lookup file on local disk was cut").with("path", self.path.display()))
            }
            Err(e) => Err(disk(&self.path, e)),
        }
    }
}

fn disk(path: &std::path::Path, e: std::io::Error) -> Error {
    Error::unavailable("local disk for lookup files fails")
        .with("path", path.display())
        .with_hint("free disk space, or lower 'lookup.cache-max-disk-size'")
        .with_source(e)
}
