//! Which indexes a table's options ask for: `file-index.<type>.columns` and `file-index.<type>.<column>.<option>`.

use std::fmt;

use super::{BITMAP, BLOOM_FILTER, BSI, RANGE_BITMAP};
use crate::options::{Options, parse_memory};
use crate::{Error, Result, ResultExt};

/// An index to build.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum IndexKind {
    /// `bloom-filter`.
    BloomFilter {
        /// Distinct values to expect.
        items: u64,
        /// Rate of false positives at so many.
        fpp: f64,
    },
    /// `bitmap`.
    Bitmap {
        /// 1 or 2.
        version: u8,
        /// Bytes of a block of the dictionary, version 2.
        block_size: usize,
    },
    /// `bsi`.
    Bsi,
    /// `range-bitmap`.
    RangeBitmap {
        /// Bytes of the values of a chunk of the dictionary; none for what is usual for the column's type.
        chunk_size: Option<usize>,
    },
}

impl fmt::Display for IndexKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BloomFilter { .. } => BLOOM_FILTER,
            Self::Bitmap { .. } => BITMAP,
            Self::Bsi => BSI,
            Self::RangeBitmap { .. } => RANGE_BITMAP,
        })
    }
}

/// A column and the index to build on it.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexSpec {
    /// The column; `m[k]` for the key `k` of a map column `m`.
    pub column: String,
    /// The index.
    pub kind: IndexKind,
}

impl IndexSpec {
    /// What the options ask for; those of a key of a map are taken from those of the map where they are not set.
    ///
    /// # Errors
    /// `Unsupported` for index types that do not exist, `Invalid` for malformed values.
    pub fn from_options(options: &Options) -> Result<Vec<Self>> {
        let mut specs = Vec::new();
        for (index_type, columns) in options.file_index_columns() {
            for (i, column) in columns.iter().enumerate() {
                if columns.iter().take(i).any(|earlier| earlier == column) {
                    continue;
                }
                let kind = kind(options, index_type, column).context("column", *column)?;
                specs.push(Self { column: (*column).to_owned(), kind });
            }
        }
        Ok(specs)
    }

    /// Checks that options of single columns are of columns that are indexed; the reference fails on others.
    ///
    /// # Errors
    /// `Invalid` naming the option.
    pub fn check_options(options: &Options) -> Result<()> {
        let indexed = options.file_index_columns();
        for (key, _) in options.iter().filter(|(key, _)| !key.ends_with(".columns")) {
            let parts: Vec<&str> = key.split('.').collect();
            let ["file-index", index_type, column, _] = parts[..] else { continue };
            let is = |name: &str| name == column || map_key(name).is_some_and(|(map, _)| map == column);
            if !indexed.iter().any(|(kind, names)| *kind == index_type && names.iter().any(|name| is(name))) {
                return Err(Error::invalid(format!("option {key:?} names a column without such an index"))
                    .with("column", column)
                    .with_hint(format!(
                        "name the column in \"file-index.{index_type}.columns\", or remove the option"
                    )));
            }
        }
        Ok(())
    }
}

/// The map and the key of `m[k]`; none for the name of a whole column.
pub(super) fn map_key(name: &str) -> Option<(&str, &str)> {
    name.strip_suffix(']')?.split_once('[')
}

fn kind(options: &Options, index_type: &str, column: &str) -> Result<IndexKind> {
    let of = |column: &str, name: &str| options.raw(&format!("file-index.{index_type}.{column}.{name}"));
    let option = |name: &str| of(column, name).or_else(|| of(map_key(column)?.0, name));
    match index_type {
        BLOOM_FILTER => {
            Ok(IndexKind::BloomFilter { items: number(option("items"), 1_000_000)?, fpp: number(option("fpp"), 0.1)? })
        }
        BITMAP => {
            let version = number(option("version"), 2)?;
            if !(1..=2).contains(&version) {
                return Err(Error::unsupported(format!("bitmap index version {version}")));
            }
            let block_size = parse_memory(option("index-block-size").unwrap_or("16kb"))?;
            Ok(IndexKind::Bitmap { version, block_size: usize::try_from(block_size).unwrap_or(usize::MAX) })
        }
        BSI => Ok(IndexKind::Bsi),
        RANGE_BITMAP => Ok(IndexKind::RangeBitmap { chunk_size: option("chunk-size").map(chunk_size).transpose()? }),
        other => Err(Error::unsupported(format!("building file indexes of type {other}"))),
    }
}

/// An int in the reference.
fn chunk_size(text: &str) -> Result<usize> {
    let size = i32::try_from(parse_memory(text)?).ok().and_then(|size| usize::try_from(size).ok());
    size.ok_or_else(|| Error::invalid(format!("a chunk of a range bitmap of {text}, which must be below 2 gb")))
}

fn number<T: std::str::FromStr>(text: Option<&str>, default: T) -> Result<T> {
    let Some(text) = text else { return Ok(default) };
    text.trim().parse().map_err(|_| Error::invalid(format!("{text:?} is not a valid number for a file index")))
}
