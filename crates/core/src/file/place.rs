//! Where a data file lies (spec: format.md C.1, C.10).

use std::ops::Range;

use linn_format::file::DataFileMeta;
use linn_format::row::BinaryRow;
use linn_format::{Error, Result};

use crate::table::Table;

const COMPACTED_CHANGELOG: &str = "compacted-changelog-";

/// The bytes of a data file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Path relative to the store's root.
    pub path: String,
    /// Which bytes of it, when it holds several files.
    pub part: Option<Range<u64>>,
}

/// Where a file of a bucket lies.
///
/// # Errors
/// `Unsupported` for a file outside of the store, `Corrupt` for a name of a compacted changelog that says nothing.
pub fn place_of(table: &Table, partition: &BinaryRow, bucket: i32, file: &DataFileMeta) -> Result<Place> {
    if let Some(external) = &file.external_path {
        return Ok(Place { path: inside(table, external)?, part: None });
    }
    if file.file_name.starts_with(COMPACTED_CHANGELOG) {
        return compacted(table, partition, bucket, &file.file_name);
    }
    Ok(Place { path: format!("{}/{}", table.bucket_path(partition, bucket)?, file.file_name), part: None })
}

/// Where a file beside a data file lies, such as its index.
///
/// # Errors
/// As [`place_of`].
pub fn extra_file_path(
    table: &Table,
    partition: &BinaryRow,
    bucket: i32,
    file: &DataFileMeta,
    name: &str,
) -> Result<String> {
    let path = place_of(table, partition, bucket, file)?.path;
    Ok(match path.rsplit_once('/') {
        Some((folder, _)) => format!("{folder}/{name}"),
        None => name.to_owned(),
    })
}

/// A whole path as one below the root of the store.
fn inside(table: &Table, external: &str) -> Result<String> {
    let root = table.storage().root().trim_end_matches('/');
    // `file:/x`, `file:///x` and `/x` are the same place.
    let plain = |uri: &str| {
        let path = uri.strip_prefix("file:").unwrap_or(uri);
        if path.starts_with('/') { format!("/{}", path.trim_start_matches('/')) } else { path.to_owned() }
    };
    let (root, path) = (plain(root), plain(external));
    match path.strip_prefix(&root).and_then(|rest| rest.strip_prefix('/')) {
        Some(rest) if !rest.is_empty() => Ok(rest.to_owned()),
        _ => Err(Error::unsupported("external paths in another store")
            .with("path", external)
            .with("table", table.name())),
    }
}

/// `…$<bucket>-<length>.cc-<format>` is a file of its own that may hold changelogs of other buckets too;
/// `…$<bucket>-<length>-<offset>-<length>.cc-<format>` is a part of that file.
fn compacted(table: &Table, partition: &BinaryRow, bucket: i32, name: &str) -> Result<Place> {
    let malformed = || Error::corrupt("a compacted changelog file has a malformed name").with("file", name);
    let (stem, format) = name.split_once('.').ok_or_else(malformed)?;
    let (base, numbers) = stem.split_once('$').ok_or_else(malformed)?;
    let number = |n: &str| n.parse::<u64>().map_err(|_| malformed());
    let numbers = numbers.split('-').map(number).collect::<Result<Vec<_>>>()?;
    let part = |offset: u64, length: u64| offset.checked_add(length).map(|end| offset..end).ok_or_else(malformed);
    match numbers[..] {
        [_, length] => {
            let path = format!("{}/{name}", table.bucket_path(partition, bucket)?);
            Ok(Place { path, part: Some(part(0, length)?) })
        }
        [real, whole, offset, length] => {
            let real = i32::try_from(real).map_err(|_| malformed())?;
            let path = format!("{}/{base}${real}-{whole}.{format}", table.bucket_path(partition, real)?);
            Ok(Place { path, part: Some(part(offset, length)?) })
        }
        _ => Err(malformed()),
    }
}
