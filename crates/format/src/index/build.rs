//! Building the indexes of a file while it is written.

use arrow_array::RecordBatch;
use bytes::Bytes;

use super::bloom::{self, Bloom};
use super::container::{IndexFile, IndexPart};
use super::key::Layout;
use super::spec::{IndexKind, IndexSpec, map_key};
use super::visit::{each, of_key};
use super::{BITMAP, BLOOM_FILTER, BSI, RANGE_BITMAP, bitmap, bsi, range};
use crate::types::{DataField, Kind};
use crate::{Error, Result, ResultExt};

enum Body {
    Bloom(Bloom<Vec<u8>>),
    Bitmap(bitmap::Builder),
    Bsi(bsi::Builder),
    Range(range::Builder),
}

impl Body {
    /// An index on values of this type; none where the reference has none.
    fn new(kind: IndexKind, values: &Kind) -> Result<Option<Self>> {
        Ok(match kind {
            IndexKind::BloomFilter { items, fpp } if bloom::supports(values) => {
                Some(Self::Bloom(Bloom::new(items, fpp)?))
            }
            IndexKind::BloomFilter { .. } => None,
            IndexKind::Bitmap { version, block_size } => {
                Layout::of(values).map(|layout| Self::Bitmap(bitmap::Builder::new(layout, version, block_size)))
            }
            IndexKind::Bsi => bsi::supports(values).then(|| Self::Bsi(bsi::Builder::default())),
            IndexKind::RangeBitmap { chunk_size } => {
                range::layout(values).map(|layout| Self::Range(range::Builder::new(layout, chunk_size)))
            }
        })
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Bloom(_) => BLOOM_FILTER,
            Self::Bitmap(_) => BITMAP,
            Self::Bsi(_) => BSI,
            Self::Range(_) => RANGE_BITMAP,
        }
    }

    /// The bytes; none where the index cannot hold what came, so that the file has none.
    fn into_bytes(self) -> Result<Option<Vec<u8>>> {
        match self {
            Self::Bloom(bloom) => Ok(Some(bloom.to_bytes())),
            Self::Bitmap(builder) => builder.into_bytes().map(Some),
            Self::Bsi(builder) => builder.into_bytes(),
            Self::Range(builder) => builder.into_bytes().map(Some),
        }
    }
}

struct Column {
    place: usize,
    name: String,
    /// The key whose values are indexed, of a map.
    key: Option<String>,
    /// Type of the values.
    kind: Kind,
    body: Body,
}

impl Column {
    fn new(fields: &[DataField], spec: &IndexSpec) -> Result<Self> {
        let (column, key) = map_key(&spec.column).map_or((&*spec.column, None), |(map, key)| (map, Some(key)));
        let mut found = fields.iter().enumerate().filter(|(_, field)| field.name == column);
        let (place, field) = found.next().ok_or_else(|| Error::not_found("no such column to index"))?;
        let kind = match (&field.data_type.kind, key) {
            (kind, None) => kind,
            (Kind::Map(keys, values), Some(_)) if matches!(keys.kind, Kind::Char(_) | Kind::Varchar(_)) => &values.kind,
            (kind, Some(_)) => {
                return Err(Error::unsupported(format!("a file index on a key of a column of type {kind}"))
                    .with_hint("such indexes are on columns of type MAP with keys of type CHAR, VARCHAR or STRING"));
            }
        };
        let body = Body::new(spec.kind, kind)?.ok_or_else(|| {
            Error::unsupported(format!("a file index of type {} on values of type {kind}", spec.kind))
        })?;
        Ok(Self { place, name: spec.column.clone(), key: key.map(str::to_owned), kind: kind.clone(), body })
    }
}

/// Builds the indexes of one data file.
pub struct IndexWriter {
    columns: Vec<Column>,
    rows: u64,
}

impl IndexWriter {
    /// A writer for batches with exactly `fields`.
    ///
    /// # Errors
    /// `NotFound` for a column that is not among them, `Unsupported` for a type the index does not take.
    pub fn new(fields: &[DataField], specs: &[IndexSpec]) -> Result<Self> {
        let columns = specs.iter().map(|spec| Column::new(fields, spec).context("column", &spec.column));
        let mut columns = columns.collect::<Result<Vec<_>>>()?;
        // The container has what is of one name together.
        columns.sort_by(|a, b| (a.place, &a.name).cmp(&(b.place, &b.name)));
        Ok(Self { columns, rows: 0 })
    }

    /// Takes the next rows of the file.
    ///
    /// # Errors
    /// `Invalid` when a column is not of the Arrow type of its field.
    pub fn update(&mut self, batch: &RecordBatch) -> Result<()> {
        self.rows += batch.num_rows() as u64;
        for Column { place, name, key, kind, body } in &mut self.columns {
            let array = batch.columns().get(*place).ok_or_else(|| Error::invalid("batch lacks a column"))?;
            let values = key.as_ref().map(|key| of_key(array, key)).transpose().context("column", &*name)?;
            let array = values.as_ref().unwrap_or(array);
            match body {
                Body::Bloom(bloom) => each(array, kind, |key| {
                    key.iter().for_each(|key| bloom.add(key));
                    Ok(())
                }),
                Body::Bitmap(builder) => each(array, kind, |key| builder.add(key)),
                Body::Bsi(builder) => each(array, kind, |key| builder.add(key)),
                Body::Range(builder) => each(array, kind, |key| builder.add(key)),
            }
            .context("column", &*name)?;
        }
        Ok(())
    }

    /// The bytes of the index file; `None` when there is no index or no row.
    pub fn finish(self) -> Result<Option<Bytes>> {
        if self.rows == 0 {
            return Ok(None);
        }
        let mut parts = Vec::new();
        for column in self.columns {
            let index_type = column.body.name().to_owned();
            if let Some(body) = column.body.into_bytes().context("column", &column.name)? {
                parts.push(IndexPart { column: column.name, index_type, body: Some(body.into()) });
            }
        }
        if parts.is_empty() { Ok(None) } else { Ok(Some(IndexFile { parts }.to_bytes()?)) }
    }
}
