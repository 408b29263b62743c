//! What the values of columns are like, batch by batch and put together.

use std::cmp::Ordering;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_ord::sort::sort_to_indices;
use arrow_row::{RowConverter, SortField};
use arrow_schema::SortOptions;
use datasketches::hll::{HllSketch, HllType, HllUnion};
use linn_format::datum::{Datum, one_nan};
use linn_format::snapshot::ColStats;
use linn_format::types::{DataField, Kind, arrow_type};
use linn_format::{Error, Result};

/// Precision of counts of different values: an error of about one in a hundred.
const LG_K: u8 = 13;

/// What is known so far.
pub(super) struct Looked {
    rows: i64,
    columns: Vec<Column>,
}

struct Column {
    field: DataField,
    converter: RowConverter,
    distinct: HllSketch,
    nulls: i64,
    min: Option<Datum>,
    max: Option<Datum>,
    bytes: i64,
    longest: i64,
}

impl Looked {
    pub(super) fn new(fields: &[DataField]) -> Result<Self> {
        Ok(Self { rows: 0, columns: fields.iter().map(Column::new).collect::<Result<_>>()? })
    }

    pub(super) fn rows(&self) -> i64 {
        self.rows
    }

    /// Takes in rows that have these columns in this order.
    pub(super) fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        self.rows += i64::try_from(batch.num_rows()).unwrap_or(i64::MAX);
        self.columns.iter_mut().zip(batch.columns()).try_for_each(|(column, values)| column.add(values))
    }

    pub(super) fn merge(&mut self, other: Self) -> Result<()> {
        self.rows += other.rows;
        self.columns.iter_mut().zip(other.columns).try_for_each(|(column, other)| column.merge(other))
    }

    pub(super) fn finish(self) -> Result<Vec<(String, ColStats)>> {
        let rows = self.rows;
        self.columns.into_iter().map(|column| column.finish(rows)).collect()
    }
}

fn failed(e: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::internal("a sketch of different values failed").with_source(e)
}

impl Column {
    fn new(field: &DataField) -> Result<Self> {
        Ok(Self {
            field: field.clone(),
            converter: RowConverter::new(vec![SortField::new(arrow_type(&field.data_type)?)])?,
            distinct: HllSketch::new(LG_K, HllType::Hll8).map_err(failed)?,
            nulls: 0,
            min: None,
            max: None,
            bytes: 0,
            longest: 0,
        })
    }

    fn add(&mut self, values: &ArrayRef) -> Result<()> {
        let nulls = values.logical_null_count();
        self.nulls += i64::try_from(nulls).unwrap_or(i64::MAX);
        if nulls == values.len() {
            return Ok(());
        }
        let values = &one_nan(values)?;
        let converted = self.converter.convert_columns(std::slice::from_ref(values))?;
        for (i, row) in converted.iter().enumerate() {
            if values.is_valid(i) {
                self.distinct.update(row.as_ref());
            }
        }
        if has_bounds(&self.field.data_type.kind) {
            let (min, max) = (self.first(values, false)?, self.first(values, true)?);
            self.bounds(min, max);
        }
        self.lengths(values);
        Ok(())
    }

    /// The smallest or largest value.
    fn first(&self, values: &ArrayRef, descending: bool) -> Result<Option<Datum>> {
        let order = SortOptions { descending, nulls_first: false };
        let first = sort_to_indices(values, Some(order), Some(1))?;
        match first.values().first() {
            Some(at) => Datum::from_array(values.as_ref(), *at as usize, &self.field.data_type),
            None => Ok(None),
        }
    }

    fn bounds(&mut self, min: Option<Datum>, max: Option<Datum>) {
        let better = |new: &Datum, old: &Option<Datum>, than| {
            old.as_ref().is_none_or(|old| new.compare(old).is_some_and(|order| order == than))
        };
        if let Some(min) = min.filter(|min| better(min, &self.min, Ordering::Less)) {
            self.min = Some(min);
        }
        if let Some(max) = max.filter(|max| better(max, &self.max, Ordering::Greater)) {
            self.max = Some(max);
        }
    }

    /// Characters of text, bytes of binary values.
    fn lengths(&mut self, values: &ArrayRef) {
        let mut take = |length: usize| {
            let length = i64::try_from(length).unwrap_or(i64::MAX);
            self.bytes = self.bytes.saturating_add(length);
            self.longest = self.longest.max(length);
        };
        if let Some(texts) = values.as_string_opt::<i32>() {
            texts.iter().flatten().for_each(|text| take(text.chars().count()));
        } else if let Some(bytes) = values.as_binary_opt::<i32>() {
            bytes.iter().flatten().for_each(|bytes| take(bytes.len()));
        }
    }

    fn merge(&mut self, other: Self) -> Result<()> {
        self.nulls += other.nulls;
        self.bounds(other.min, other.max);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.longest = self.longest.max(other.longest);
        let mut union = HllUnion::new(LG_K).map_err(failed)?;
        union.update(&self.distinct);
        union.update(&other.distinct);
        self.distinct = union.to_sketch(HllType::Hll8);
        Ok(())
    }

    fn finish(self, rows: i64) -> Result<(String, ColStats)> {
        let present = rows.saturating_sub(self.nulls);
        let (avg_len, max_len) = match width(&self.field.data_type.kind) {
            Some(width) => (width, width),
            None => (if present == 0 { 0 } else { self.bytes.saturating_add(present - 1) / present }, self.longest),
        };
        // A sketch may be off by one in a hundred, but never counts more values than there are.
        let distinct = (self.distinct.estimate().round() as i64).clamp(i64::from(present > 0), present);
        let stats = ColStats {
            col_id: self.field.id,
            distinct_count: Some(distinct),
            min: self.min.map(|min| min.to_string()),
            max: self.max.map(|max| max.to_string()),
            null_count: Some(self.nulls),
            avg_len: Some(avg_len),
            max_len: Some(max_len),
        };
        Ok((self.field.name, stats))
    }
}

/// Whether smallest and largest values are noted; those of text and binary columns can be as long as they like.
fn has_bounds(kind: &Kind) -> bool {
    !matches!(kind, Kind::Char(_) | Kind::Varchar(_) | Kind::Binary(_) | Kind::Varbinary(_))
}

/// Bytes of a value, where all have the same.
fn width(kind: &Kind) -> Option<i64> {
    match kind {
        Kind::Boolean | Kind::TinyInt => Some(1),
        Kind::SmallInt => Some(2),
        Kind::Int | Kind::Float | Kind::Date | Kind::Time(_) => Some(4),
        Kind::Decimal { precision, .. } if *precision > 18 => Some(16),
        Kind::BigInt | Kind::Double | Kind::Timestamp(_) | Kind::LocalZonedTimestamp(_) | Kind::Decimal { .. } => {
            Some(8)
        }
        _ => None,
    }
}
