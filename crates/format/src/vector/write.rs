//! Writing index files of deletion vectors. When to start another file (`deletion-vector.index-file.target-size`) is
//! the caller's choice, by [`DeletionVectorWriter::size`].

use roaring::RoaringTreemap;

use super::codec::{FILE_VERSION, encode};
use crate::manifest::DeletionVectorMeta;
use crate::{Error, Result, ResultExt};

/// How vectors are encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VectorKind {
    /// The first encoding, for files of up to 2^31 rows.
    Bitmap32,
    /// With `deletion-vectors.bitmap64`.
    Bitmap64,
}

/// One index file being put together.
#[derive(Debug)]
pub struct DeletionVectorWriter {
    kind: VectorKind,
    bytes: Vec<u8>,
    metas: Vec<DeletionVectorMeta>,
}

impl DeletionVectorWriter {
    /// A file without vectors.
    pub fn new(kind: VectorKind) -> Self {
        Self { kind, bytes: vec![FILE_VERSION], metas: Vec::new() }
    }

    /// Appends the vector of a data file.
    ///
    /// # Errors
    /// `Invalid` for a position that the encoding cannot hold; nothing is appended then.
    pub fn add(&mut self, data_file: &str, positions: &RoaringTreemap) -> Result<()> {
        let offset = int(self.bytes.len())?;
        encode(self.kind, positions, &mut self.bytes).context("data file", data_file)?;
        let whole = int(self.bytes.len())? - offset;
        // The length of 32-bit vectors leaves out size and checksum.
        let length = match self.kind {
            VectorKind::Bitmap32 => whole - 8,
            VectorKind::Bitmap64 => whole,
        };
        let cardinality = i64::try_from(positions.len()).ok();
        self.metas.push(DeletionVectorMeta { data_file: data_file.to_owned(), offset, length, cardinality });
        Ok(())
    }

    /// Bytes so far.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Whether no vector was added.
    pub fn is_empty(&self) -> bool {
        self.metas.is_empty()
    }

    /// The file, and where its vectors lie, in the order they were added.
    pub fn finish(self) -> (Vec<u8>, Vec<DeletionVectorMeta>) {
        (self.bytes, self.metas)
    }
}

fn int(length: usize) -> Result<i32> {
    i32::try_from(length).map_err(|_| Error::unsupported("a deletion vector file of 2 GiB or more"))
}

/// An index file with one vector for each data file.
///
/// # Errors
/// `Invalid` for a position that the encoding cannot hold.
pub fn write<'a>(
    kind: VectorKind,
    vectors: impl IntoIterator<Item = (&'a str, &'a RoaringTreemap)>,
) -> Result<(Vec<u8>, Vec<DeletionVectorMeta>)> {
    let mut writer = DeletionVectorWriter::new(kind);
    for (data_file, positions) in vectors {
        writer.add(data_file, positions)?;
    }
    Ok(writer.finish())
}
