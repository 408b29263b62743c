//! The rows of the latest snapshot, file by file: as many as the metadata says, keys ascending from the smallest to the
//! largest, sequence numbers within their bounds, no decimal beyond the digits of its type; deletion vectors with as many
//! positions as they say, all within their file.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int64Type};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_row::{OwnedRow, RowConverter, SortField};
use futures::TryStreamExt;
use linn_format::datum::one_nan;
use linn_format::file::DataFileMeta;
use linn_format::limit;
use linn_format::manifest::{DELETION_VECTORS_INDEX, EntryBatch, StatsColumns};
use linn_format::row::{BinaryRow, rows_from_columns};
use linn_format::types::{
    DataField, DataType, Kind, SEQUENCE_NUMBER, SEQUENCE_NUMBER_ID, VALUE_KIND, VALUE_KIND_ID, has_nanos,
};
use linn_format::{Error, Result, vector};

use super::history::Walk;
use super::report::{Report, Rule};
use crate::file::{FileQuery, place_of, read_file};
use crate::manifest::{Manifests, Selection};
use crate::table::Table;

/// Rows that are looked at together.
const BATCH: usize = 8192;

pub(super) async fn check(table: &Table, walk: &Walk<'_>, report: &mut Report) -> Result<()> {
    let Some(latest) = &walk.latest else { return Ok(()) };
    let table = &table.widened();
    vectors(table, walk, report).await?;
    let manifests = Manifests::new(table);
    let whole = |batch: Arc<EntryBatch>| async move { Ok(Selection::of(&batch, |_| true)) };
    let live = async {
        let list = manifests.of_snapshot(latest).await?;
        manifests.live(list, StatsColumns::Keys, whole).await
    };
    // What cannot be read is found already.
    let Ok(live) = live.await else { return Ok(()) };
    for (batch, i) in live.iter() {
        let partition = BinaryRow::from_serialized(batch.partition(i).to_vec())?;
        let file = batch.file(i)?;
        let before = report.findings.len();
        let result = rows(table, &partition, batch.bucket(i), &file, report).await;
        let path = place_of(table, &partition, batch.bucket(i), &file).map_or(file.file_name.clone(), |p| p.path);
        report.read(result, &path)?;
        report.findings.iter_mut().skip(before).for_each(|finding| finding.snapshot = Some(latest.id));
    }
    Ok(())
}

/// The columns that are read: those with decimals, before them of key-value files the key, and what orders it behind them,
/// else the first column.
fn columns(table: &Table) -> Vec<DataField> {
    let schema = table.schema();
    let mut fields: Vec<DataField> = schema.trimmed_primary_keys().into_iter().cloned().collect();
    if schema.primary_keys.is_empty() {
        fields = schema.fields.iter().take(1).cloned().collect();
        // One that Arrow cannot hold is no reason to read it.
        if has_nanos(&fields) {
            fields.clear();
        }
    }
    let values = schema.fields.iter().filter(|field| has_decimals(&field.data_type));
    let others: Vec<DataField> = values.filter(|field| !fields.contains(field)).cloned().collect();
    fields.extend(others);
    if !schema.primary_keys.is_empty() {
        fields.push(DataField::new(SEQUENCE_NUMBER_ID, SEQUENCE_NUMBER, DataType::required(Kind::BigInt)));
        fields.push(DataField::new(VALUE_KIND_ID, VALUE_KIND, DataType::required(Kind::TinyInt)));
    }
    fields
}

/// Whether a type has decimals at any depth: files can hold more digits than a type has.
fn has_decimals(data_type: &DataType) -> bool {
    match &data_type.kind {
        Kind::Decimal { .. } => true,
        Kind::Array(element) | Kind::Multiset(element) | Kind::Vector { element, .. } => has_decimals(element),
        Kind::Map(key, value) => has_decimals(key) || has_decimals(value),
        Kind::Row(fields) => fields.iter().any(|field| has_decimals(&field.data_type)),
        _ => false,
    }
}

/// The type with nothing else to be held against than its decimals.
fn decimals_of(field: &DataField) -> Option<DataType> {
    fn bare(data_type: &DataType) -> DataType {
        let boxed = |inner: &DataType| Box::new(bare(inner));
        DataType::nullable(match &data_type.kind {
            Kind::Array(element) => Kind::Array(boxed(element)),
            Kind::Multiset(element) => Kind::Multiset(boxed(element)),
            Kind::Vector { element, length } => Kind::Vector { element: boxed(element), length: *length },
            Kind::Map(key, value) => Kind::Map(boxed(key), boxed(value)),
            Kind::Row(fields) => Kind::Row(
                fields.iter().map(|field| DataField { data_type: bare(&field.data_type), ..field.clone() }).collect(),
            ),
            decimal @ Kind::Decimal { .. } => decimal.clone(),
            // Of these every value is one.
            _ => Kind::Boolean,
        })
    }
    has_decimals(&field.data_type).then(|| bare(&field.data_type))
}

async fn rows(
    table: &Table,
    partition: &BinaryRow,
    bucket: i32,
    file: &DataFileMeta,
    report: &mut Report,
) -> Result<()> {
    let fields = columns(table);
    let path = place_of(table, partition, bucket, file)?.path;
    let mut seen = Seen::new(table, &fields)?;
    let query = FileQuery::all(fields, BATCH);
    let mut batches = read_file(table, partition, bucket, file, None, query).await?;
    while let Some(batch) = batches.try_next().await? {
        report.rows += batch.num_rows() as u64;
        seen.take(&batch)?;
    }
    let mut fault = |what: String| {
        report.fault(Rule::Rows, &path, what).advise("rewrite the rows of the file");
    };
    if seen.rows != file.row_count {
        fault(format!("has {} rows, not {}", seen.rows, file.row_count));
    }
    if let Some(what) = seen.misfit.take() {
        fault(what);
    }
    if let Some(at) = seen.unordered {
        fault(format!("has a key at row {at} that is not larger than the one before"));
    }
    if let Some((first, last)) = seen.bounds {
        if first != file.min_key || last != file.max_key {
            fault("begins or ends with other keys than its metadata says".to_owned());
        }
        let (min, max) = seen.sequences;
        if min < file.min_sequence_number || max > file.max_sequence_number {
            let said = format!("{} to {}", file.min_sequence_number, file.max_sequence_number);
            fault(format!("has sequence numbers from {min} to {max}, not from {said}"));
        }
        if file.delete_row_count.is_some_and(|said| said != seen.deletes) {
            fault(format!("has {} deletions, not {:?}", seen.deletes, file.delete_row_count));
        }
    }
    Ok(())
}

/// What was seen of one file.
struct Seen {
    keys: Vec<DataType>,
    converter: Option<RowConverter>,
    rows: i64,
    last: Option<OwnedRow>,
    unordered: Option<i64>,
    bounds: Option<(BinaryRow, BinaryRow)>,
    sequences: (i64, i64),
    deletes: i64,
    /// The columns that are held against their types, and the first value that is none of its type.
    typed: Vec<(String, Option<DataType>)>,
    misfit: Option<String>,
}

impl Seen {
    fn new(table: &Table, fields: &[DataField]) -> Result<Self> {
        let keyed = !table.schema().primary_keys.is_empty();
        let keys: Vec<DataType> = match keyed {
            true => table.schema().trimmed_primary_keys().into_iter().map(|key| key.data_type.clone()).collect(),
            false => Vec::new(),
        };
        let typed = fields.iter().map(|field| (field.name.clone(), decimals_of(field))).collect();
        let sort = |key: &DataField| Ok(SortField::new(linn_format::types::arrow_field(key)?.data_type().clone()));
        let sorts = fields.iter().take(keys.len()).map(sort).collect::<Result<Vec<_>>>()?;
        let converter = if keyed { Some(RowConverter::new(sorts)?) } else { None };
        let (last, unordered, bounds) = (None, None, None);
        Ok(Self {
            keys,
            converter,
            rows: 0,
            last,
            unordered,
            bounds,
            sequences: (i64::MAX, i64::MIN),
            deletes: 0,
            typed,
            misfit: None,
        })
    }

    fn take(&mut self, batch: &RecordBatch) -> Result<()> {
        let start = self.rows;
        self.rows += batch.num_rows() as i64;
        self.fit(batch, start);
        let Some(converter) = &self.converter else { return Ok(()) };
        let keys = batch.columns().iter().take(self.keys.len()).map(one_nan).collect::<Result<Vec<ArrayRef>>>()?;
        let rows = converter.convert_columns(&keys)?;
        for (i, row) in rows.iter().enumerate() {
            if i > 0 && rows.row(i - 1) >= row || i == 0 && self.last.as_ref().is_some_and(|last| last.row() >= row) {
                self.unordered.get_or_insert(start + i as i64);
            }
        }
        self.last = rows.iter().next_back().map(|row| row.owned());
        let ends = [0, batch.num_rows() - 1];
        let at = |i: usize| keys.iter().map(|key| key.slice(ends[i], 1)).collect::<Vec<_>>();
        let key = |i: usize| -> Result<BinaryRow> {
            rows_from_columns(&at(i), &self.keys)?.pop().ok_or_else(|| Error::internal("a row without a key"))
        };
        let last = key(1)?;
        self.bounds = Some(match self.bounds.take() {
            Some((first, _)) => (first, last),
            None => (key(0)?, last),
        });
        let tail = |from_end: usize| batch.columns().iter().rev().nth(from_end);
        let (Some(sequences), Some(kinds)) = (tail(1), tail(0)) else { return Ok(()) };
        for sequence in sequences.as_primitive::<Int64Type>().iter().flatten() {
            self.sequences = (self.sequences.0.min(sequence), self.sequences.1.max(sequence));
        }
        self.deletes +=
            kinds.as_primitive::<Int8Type>().iter().flatten().filter(|kind| matches!(kind, 1 | 3)).count() as i64;
        Ok(())
    }
}

impl Seen {
    fn fit(&mut self, batch: &RecordBatch, start: i64) {
        if self.misfit.is_some() {
            return;
        }
        self.misfit = self.typed.iter().zip(batch.columns()).find_map(|((name, data_type), column)| {
            let found = limit::misfit(column, data_type.as_ref()?)?;
            let row = start.saturating_add(i64::try_from(found.row).unwrap_or(i64::MAX));
            Some(format!("has {} in row {row} of column {}", found.what, found.path(name)))
        });
    }
}

/// Deletion vectors as they are stored.
async fn vectors(table: &Table, walk: &Walk<'_>, report: &mut Report) -> Result<()> {
    let (Some(latest), Some(live)) = (&walk.latest, &walk.live) else { return Ok(()) };
    let before = report.findings.len();
    for line in walk.lines.iter().filter(|line| line.index_type == DELETION_VECTORS_INDEX) {
        let Ok(path) = table.index_file_path(line) else { continue };
        let Some(bytes) = report.read(table.storage().read(&path, None).await, &path)? else { continue };
        for meta in line.deletion_vectors.iter().flatten() {
            let Some(positions) = report.read(vector::read(&bytes, meta), &path)? else { continue };
            let count = i64::try_from(positions.len()).unwrap_or(i64::MAX);
            if meta.cardinality.is_some_and(|said| said != count) {
                let what = format!("deletes {count} rows of {}, not {:?}", meta.data_file, meta.cardinality);
                report.fault(Rule::Index, &path, what);
            }
            let partition = line.partition.to_serialized();
            let of = live.files.iter().find(|(key, _)| {
                *key.name == *meta.data_file && key.bucket == line.bucket && *key.partition == *partition
            });
            let rows = of.map(|(_, facts)| facts.rows);
            if let (Some(max), Some(rows)) = (positions.max(), rows)
                && i64::try_from(max).unwrap_or(i64::MAX) >= rows
            {
                report.fault(Rule::Index, &path, format!("deletes row {max} of {}, which has {rows}", meta.data_file));
            }
        }
    }
    report.findings.iter_mut().skip(before).for_each(|finding| finding.snapshot = Some(latest.id));
    Ok(())
}
