//! Where rows come from: a file or standard input, packed or not.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use indicatif::ProgressBar;
use linn::{Error, Result};
use tempfile::NamedTempFile;

use crate::args::FileKind;

const BUFFER: usize = 1 << 18;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Packing {
    None,
    Gzip,
    Zstd,
}

/// One input, whose format is known.
#[derive(Debug)]
pub(crate) struct Source {
    path: PathBuf,
    /// What is in it.
    pub(crate) kind: FileKind,
    packing: Packing,
    /// A copy of an input that can be read only once.
    copy: Option<NamedTempFile>,
}

impl Source {
    /// An input by its path; `-` is standard input, which is copied to a temporary file when it must be read `again`.
    ///
    /// # Errors
    /// `Invalid` when the format is neither given nor told by the file's ending, `NotFound` without such a file.
    pub(crate) fn new(path: &Path, format: Option<FileKind>, again: bool) -> Result<Self> {
        let (packing, kind) = ending(path);
        let kind = format.or(kind).ok_or_else(|| {
            Error::invalid("the format of the input is not known")
                .with("file", path.display())
                .with_hint("give it with --format csv, tsv, ndjson, parquet, orc, avro or arrow")
        })?;
        let mut source = Self { path: path.to_owned(), kind, packing, copy: None };
        let columnar = kind.is_columnar();
        if (source.is_stdin() && again) || (columnar && (source.is_stdin() || packing != Packing::None)) {
            let mut copy = NamedTempFile::new().map_err(|e| source.failed(e))?;
            let mut reader = source.reader(&ProgressBar::hidden())?;
            std::io::copy(&mut reader, &mut copy).map_err(|e| source.failed(e))?;
            source.packing = Packing::None;
            source.copy = Some(copy);
        } else if !source.is_stdin() {
            source.raw()?;
        }
        Ok(source)
    }

    /// How it is called in messages.
    pub(crate) fn name(&self) -> String {
        if self.is_stdin() { "standard input".to_owned() } else { self.path.display().to_string() }
    }

    fn is_stdin(&self) -> bool {
        self.path.as_os_str() == "-"
    }

    /// Size in bytes as it lies on disk; `None` for a pipe.
    pub(crate) fn size(&self) -> Option<u64> {
        let path = self.copy.as_ref().map_or(self.path.as_path(), NamedTempFile::path);
        std::fs::metadata(path).ok().filter(|m| m.is_file()).map(|m| m.len())
    }

    /// The file itself, for formats that are read from their end.
    pub(crate) fn raw(&self) -> Result<File> {
        if let Some(copy) = &self.copy {
            let mut file = copy.reopen().map_err(|e| self.failed(e))?;
            file.rewind().map_err(|e| self.failed(e))?;
            return Ok(file);
        }
        let file = File::open(&self.path).map_err(|e| self.failed(e))?;
        if file.metadata().is_ok_and(|m| m.is_dir()) {
            return Err(Error::invalid("this is a folder, not a file").with("file", self.path.display()));
        }
        Ok(file)
    }

    /// The unpacked bytes; `bar` moves with the packed ones.
    pub(crate) fn reader(&self, bar: &ProgressBar) -> Result<Box<dyn BufRead + Send>> {
        let raw: Box<dyn Read + Send> =
            if self.is_stdin() && self.copy.is_none() { Box::new(std::io::stdin()) } else { Box::new(self.raw()?) };
        let counted = bar.wrap_read(raw);
        Ok(match self.packing {
            Packing::None => Box::new(BufReader::with_capacity(BUFFER, counted)),
            Packing::Gzip => {
                let packed = BufReader::with_capacity(BUFFER, counted);
                Box::new(BufReader::with_capacity(BUFFER, MultiGzDecoder::new(packed)))
            }
            Packing::Zstd => {
                let unpacked = zstd::Decoder::new(counted).map_err(|e| self.failed(e))?;
                Box::new(BufReader::with_capacity(BUFFER, unpacked))
            }
        })
    }

    /// The error of reading it.
    pub(crate) fn failed(&self, e: std::io::Error) -> Error {
        unreadable(e).with("file", self.name())
    }

    /// The error of what is in it.
    pub(crate) fn wrong(&self, what: &str, e: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
        Error::invalid(format!("the input is not {what}")).with("file", self.name()).with_source(e)
    }
}

/// The error of reading an input.
pub(crate) fn unreadable(e: std::io::Error) -> Error {
    let error = match e.kind() {
        std::io::ErrorKind::NotFound => Error::not_found("there is no such file"),
        std::io::ErrorKind::InvalidData | std::io::ErrorKind::InvalidInput | std::io::ErrorKind::UnexpectedEof => {
            Error::invalid("the input cannot be unpacked or decoded")
        }
        _ => Error::unavailable("the input cannot be read"),
    };
    error.with_source(e)
}

/// Packing and format by the endings of a file's name.
fn ending(path: &Path) -> (Packing, Option<FileKind>) {
    let name = path.file_name().map(|n| n.to_string_lossy().to_lowercase()).unwrap_or_default();
    let (name, packing) = match (name.strip_suffix(".gz"), name.strip_suffix(".zst")) {
        (Some(rest), _) => (rest, Packing::Gzip),
        (_, Some(rest)) => (rest, Packing::Zstd),
        _ => (name.as_str(), Packing::None),
    };
    (packing, kind_of(name))
}

/// The format that a file's name promises.
pub(crate) fn kind_of(name: &str) -> Option<FileKind> {
    match name.rsplit_once('.')?.1 {
        "csv" => Some(FileKind::Csv),
        "tsv" | "tab" => Some(FileKind::Tsv),
        "ndjson" | "jsonl" | "json" | "geojson" => Some(FileKind::Ndjson),
        "parquet" => Some(FileKind::Parquet),
        "orc" => Some(FileKind::Orc),
        "avro" => Some(FileKind::Avro),
        "arrow" | "arrows" | "ipc" | "feather" => Some(FileKind::Arrow),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_tell_format_and_packing() {
        assert_eq!(ending(Path::new("a/b.csv")), (Packing::None, Some(FileKind::Csv)));
        assert_eq!(ending(Path::new("b.ndjson.gz")), (Packing::Gzip, Some(FileKind::Ndjson)));
        assert_eq!(ending(Path::new("b.CSV.zst")), (Packing::Zstd, Some(FileKind::Csv)));
        assert_eq!(ending(Path::new("-")), (Packing::None, None));
    }
}
