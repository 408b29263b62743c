//! Sections: groups of files whose key ranges overlap, so that only what overlaps is merged.
//!
//! Sections come in key order and their key ranges are disjoint. Within a section the files are arranged in sorted
//! runs, newest first, which is the order that [`merge`](super::merge) breaks its last ties by.

use std::cmp::Ordering;
use std::sync::Arc;

use linn_format::datum::Datum;
use linn_format::file::DataFileMeta;
use linn_format::row::BinaryRow;
use linn_format::schema::TableSchema;
use linn_format::types::DataType;
use linn_format::{Result, ResultExt};

/// The order of trimmed primary keys.
#[derive(Debug, Clone)]
pub struct KeyOrder {
    types: Vec<DataType>,
}

impl KeyOrder {
    /// The key order of a table.
    pub fn of(schema: &TableSchema) -> Self {
        Self { types: schema.trimmed_primary_keys().iter().map(|f| f.data_type.clone()).collect() }
    }

    /// A key to compare.
    ///
    /// # Errors
    /// `Corrupt` when the row is no key of the table.
    pub fn bound(&self, row: &BinaryRow) -> Result<KeyBound> {
        let values = self.types.iter().enumerate().map(|(i, t)| row.datum(i, t)).collect::<Result<Vec<_>>>()?;
        Ok(KeyBound(values))
    }
}

/// A key that compares in key order.
#[derive(Debug, Clone)]
pub struct KeyBound(Vec<Option<Datum>>);

impl PartialEq for KeyBound {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for KeyBound {}

impl PartialOrd for KeyBound {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for KeyBound {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0
            .iter()
            .zip(&other.0)
            .map(|(a, b)| match (a, b) {
                (None, None) => Ordering::Equal,
                (None, Some(_)) => Ordering::Less,
                (Some(_), None) => Ordering::Greater,
                (Some(a), Some(b)) => a.compare(b).unwrap_or(Ordering::Equal),
            })
            .find(|o| *o != Ordering::Equal)
            .unwrap_or(Ordering::Equal)
    }
}

/// Files with overlapping key ranges.
#[derive(Debug, Clone)]
pub struct Section {
    /// Sorted runs, newest first; the files of a run are in key order and do not overlap.
    pub runs: Vec<Vec<Arc<DataFileMeta>>>,
}

impl Section {
    /// All files.
    pub fn files(&self) -> impl Iterator<Item = &Arc<DataFileMeta>> {
        self.runs.iter().flatten()
    }
}

struct Ranged {
    min: KeyBound,
    max: KeyBound,
    file: Arc<DataFileMeta>,
}

/// Groups the files of one bucket into sections.
///
/// # Errors
/// `Corrupt` naming the file whose key range cannot be read.
pub fn sections(files: &[Arc<DataFileMeta>], order: &KeyOrder) -> Result<Vec<Section>> {
    let mut ranged = files
        .iter()
        .map(|file| {
            let min = order.bound(&file.min_key).context("file", &file.file_name)?;
            let max = order.bound(&file.max_key).context("file", &file.file_name)?;
            Ok(Ranged { min, max, file: file.clone() })
        })
        .collect::<Result<Vec<_>>>()?;
    ranged.sort_by(|a, b| a.min.cmp(&b.min).then_with(|| a.max.cmp(&b.max)));
    let mut sections = Vec::new();
    let mut section: Vec<Ranged> = Vec::new();
    let mut bound: Option<KeyBound> = None;
    for file in ranged {
        if bound.as_ref().is_some_and(|b| file.min > *b) {
            sections.push(arrange(std::mem::take(&mut section)));
            bound = None;
        }
        if bound.as_ref().is_none_or(|b| file.max > *b) {
            bound = Some(file.max.clone());
        }
        section.push(file);
    }
    if !section.is_empty() {
        sections.push(arrange(section));
    }
    Ok(sections)
}

/// Arranges the files of a section, which come in key order, in runs. Neighbours in age that do not overlap share one.
fn arrange(files: Vec<Ranged>) -> Section {
    let mut by_age = files;
    by_age.sort_by(|a, b| by_level_and_age(&a.file, &b.file).then_with(|| a.min.cmp(&b.min)));
    let mut runs: Vec<Vec<Ranged>> = Vec::new();
    for file in by_age {
        let fits = runs.last().is_some_and(|run| run.iter().all(|f| f.max < file.min || f.min > file.max));
        match runs.last_mut() {
            Some(run) if fits => {
                let at = run.partition_point(|f| f.min < file.min);
                run.insert(at, file);
            }
            _ => runs.push(vec![file]),
        }
    }
    Section { runs: runs.into_iter().map(|run| run.into_iter().map(|f| f.file).collect()).collect() }
}

/// Level 0 before the others and newest first, then the levels upwards.
fn by_level_and_age(a: &DataFileMeta, b: &DataFileMeta) -> Ordering {
    a.level.cmp(&b.level).then_with(|| match a.level {
        0 => b
            .max_sequence_number
            .cmp(&a.max_sequence_number)
            .then_with(|| b.min_sequence_number.cmp(&a.min_sequence_number))
            .then_with(|| b.creation_time.cmp(&a.creation_time))
            .then_with(|| b.file_name.cmp(&a.file_name)),
        _ => Ordering::Equal,
    })
}
