//! Reads that go on without the rows of files that are gone or damaged (spec: features.md B11, tolerance).

use futures::StreamExt;
use linn_format::file::DataFileMeta;
use linn_format::{BatchStream, Error, ErrorKind, Result};

use crate::table::Table;

/// Which faults of a file end its rows instead of the read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tolerance {
    /// `scan.ignore-lost-files`.
    pub lost: bool,
    /// `scan.ignore-corrupt-files`.
    pub corrupt: bool,
}

impl Tolerance {
    /// That of reads of a table. What is written anew from a file is never read with it.
    ///
    /// # Errors
    /// `Invalid` for bad option values.
    pub(crate) fn of(table: &Table) -> Result<Self> {
        let options = table.options();
        Ok(Self { lost: options.scan_ignore_lost_files()?, corrupt: options.scan_ignore_corrupt_files()? })
    }

    fn covers(self, e: &Error) -> bool {
        match e.kind() {
            ErrorKind::NotFound => self.lost,
            ErrorKind::Corrupt => self.corrupt,
            _ => false,
        }
    }

    /// The rows of a file, up to a fault that is covered.
    pub(super) fn rows(self, table: &Table, file: &DataFileMeta, opened: Result<BatchStream>) -> Result<BatchStream> {
        if self == Self::default() {
            return opened;
        }
        let (table, file) = (table.name().to_owned(), file.file_name.clone());
        let told = move |e: &Error| {
            let covered = self.covers(e);
            if covered {
                tracing::warn!(table, file, error = %e, "a file is passed over, with rows that it holds or held");
            }
            covered
        };
        match opened {
            Ok(rows) => {
                let rows = rows.take_while(move |batch| std::future::ready(!batch.as_ref().is_err_and(&told)));
                Ok(rows.boxed())
            }
            Err(e) if told(&e) => Ok(futures::stream::empty().boxed()),
            Err(e) => Err(e),
        }
    }
}
