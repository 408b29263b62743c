//! Building the indexes of a file while it is written: `bloom-filter` and `bitmap`.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    Time32MillisecondType, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, RecordBatch};
use arrow_schema::{DataType as ArrowType, TimeUnit};
use bytes::Bytes;

use super::bitmap::Builder;
use super::bloom::{self, Bloom};
use super::container::{IndexFile, IndexPart};
use super::key::{Key, Layout};
use super::{BITMAP, BLOOM_FILTER};
use crate::datum::Float;
use crate::options::{Options, parse_memory};
use crate::types::{DataField, Kind};
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
}

/// A column and the index to build on it.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexSpec {
    /// The column.
    pub column: String,
    /// The index.
    pub kind: IndexKind,
}

impl IndexSpec {
    /// What the table's `file-index.<type>.columns` and `file-index.<type>.<column>.<option>` ask for.
    ///
    /// # Errors
    /// `Unsupported` for index types that are only read and for keys of maps, `Invalid` for malformed values.
    pub fn from_options(options: &Options) -> Result<Vec<Self>> {
        let mut specs = Vec::new();
        for (key, columns) in options.iter() {
            let Some(index_type) = key.strip_prefix("file-index.").and_then(|k| k.strip_suffix(".columns")) else {
                continue;
            };
            for column in columns.split(',').map(str::trim).filter(|c| !c.is_empty()) {
                let kind = Self::kind(options, index_type, column).context("column", column)?;
                specs.push(Self { column: column.to_owned(), kind });
            }
        }
        Ok(specs)
    }

    fn kind(options: &Options, index_type: &str, column: &str) -> Result<IndexKind> {
        if column.contains('[') {
            return Err(Error::unsupported("building file indexes on keys of maps"));
        }
        let option = |name: &str| options.get(&format!("file-index.{index_type}.{column}.{name}"));
        match index_type {
            BLOOM_FILTER => Ok(IndexKind::BloomFilter {
                items: number(option("items"), 1_000_000)?,
                fpp: number(option("fpp"), 0.1)?,
            }),
            BITMAP => {
                let version = number(option("version"), 2)?;
                if !(1..=2).contains(&version) {
                    return Err(Error::unsupported(format!("bitmap index version {version}")));
                }
                let block_size = parse_memory(option("index-block-size").unwrap_or("16kb"))?;
                Ok(IndexKind::Bitmap { version, block_size: usize::try_from(block_size).unwrap_or(usize::MAX) })
            }
            other => Err(Error::unsupported(format!("building file indexes of type {other}"))),
        }
    }
}

fn number<T: std::str::FromStr>(text: Option<&str>, default: T) -> Result<T> {
    let Some(text) = text else { return Ok(default) };
    text.trim().parse().map_err(|_| Error::invalid(format!("{text:?} is not a number that a file index can have")))
}

enum Body {
    Bloom(Bloom<Vec<u8>>),
    Bitmap(Builder),
}

struct Column {
    place: usize,
    field: DataField,
    body: Body,
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
        let mut columns: Vec<Column> = Vec::new();
        for spec in specs {
            let place = fields.iter().position(|f| f.name == spec.column);
            let place =
                place.ok_or_else(|| Error::not_found("no such column to index").with("column", &spec.column))?;
            let field = fields.get(place).cloned().ok_or_else(|| Error::internal("a column moved"))?;
            let refuse = || {
                Error::unsupported(format!("a file index of this kind on type {}", field.data_type))
                    .with("column", &spec.column)
            };
            let body = match spec.kind {
                IndexKind::BloomFilter { items, fpp } if bloom::supports(&field.data_type.kind) => {
                    Body::Bloom(Bloom::new(items, fpp).context("column", &spec.column)?)
                }
                IndexKind::BloomFilter { .. } => return Err(refuse()),
                IndexKind::Bitmap { version, block_size } => {
                    let layout = Layout::of(&field.data_type.kind).ok_or_else(refuse)?;
                    Body::Bitmap(Builder::new(layout, version, block_size))
                }
            };
            columns.push(Column { place, field, body });
        }
        columns.sort_by_key(|column| column.place);
        Ok(Self { columns, rows: 0 })
    }

    /// Takes the next rows of the file.
    ///
    /// # Errors
    /// `Invalid` when a column is not of the Arrow type of its field.
    pub fn update(&mut self, batch: &RecordBatch) -> Result<()> {
        self.rows += batch.num_rows() as u64;
        for column in &mut self.columns {
            let array = batch.columns().get(column.place).ok_or_else(|| Error::invalid("batch lacks a column"))?;
            let kind = &column.field.data_type.kind;
            match &mut column.body {
                Body::Bloom(bloom) => each(array, kind, |key| {
                    key.iter().for_each(|key| bloom.add(key));
                    Ok(())
                }),
                Body::Bitmap(builder) => each(array, kind, |key| builder.add(key)),
            }
            .context("column", &column.field.name)?;
        }
        Ok(())
    }

    /// The bytes of the index file; `None` when there is no index or no row.
    pub fn finish(self) -> Result<Option<Bytes>> {
        if self.columns.is_empty() || self.rows == 0 {
            return Ok(None);
        }
        let part = |column: Column| {
            let (index_type, body) = match column.body {
                Body::Bloom(bloom) => (BLOOM_FILTER, bloom.to_bytes()),
                Body::Bitmap(builder) => (BITMAP, builder.to_bytes()?),
            };
            Ok(IndexPart { column: column.field.name, index_type: index_type.to_owned(), body: Some(body.into()) })
        };
        let parts = self.columns.into_iter().map(part).collect::<Result<Vec<_>>>()?;
        Ok(Some(IndexFile { parts }.to_bytes()?))
    }
}

fn primitive<T: ArrowPrimitiveType>(
    array: &ArrayRef,
    key: impl Fn(T::Native) -> Key,
    mut visit: impl FnMut(Option<Key>) -> Result<()>,
) -> Option<Result<()>> {
    let array = array.as_primitive_opt::<T>()?;
    Some(array.iter().try_for_each(|value| visit(value.map(&key))))
}

/// Visits every row's key.
fn each(array: &ArrayRef, kind: &Kind, mut visit: impl FnMut(Option<Key>) -> Result<()>) -> Result<()> {
    let number = |n: i64| Key::Number(n);
    let bytes = |b: &[u8]| Key::Bytes(b.to_vec());
    let done = match kind {
        Kind::Boolean => {
            array.as_boolean_opt().map(|a| a.iter().try_for_each(|v| visit(v.map(|b| Key::Number(i64::from(b))))))
        }
        Kind::TinyInt => primitive::<Int8Type>(array, |n| number(n.into()), visit),
        Kind::SmallInt => primitive::<Int16Type>(array, |n| number(n.into()), visit),
        Kind::Int => primitive::<Int32Type>(array, |n| number(n.into()), visit),
        Kind::Date => primitive::<Date32Type>(array, |n| number(n.into()), visit),
        Kind::Time(_) => primitive::<Time32MillisecondType>(array, |n| number(n.into()), visit),
        Kind::BigInt => primitive::<Int64Type>(array, number, visit),
        Kind::Float => primitive::<Float32Type>(array, |f| Key::Float(f.one_nan().order()), visit),
        Kind::Double => primitive::<Float64Type>(array, |f| Key::Double(f.one_nan().order()), visit),
        Kind::Timestamp(_) | Kind::LocalZonedTimestamp(_) => match array.data_type() {
            ArrowType::Timestamp(TimeUnit::Millisecond, _) => {
                primitive::<TimestampMillisecondType>(array, number, visit)
            }
            ArrowType::Timestamp(TimeUnit::Microsecond, _) => {
                primitive::<TimestampMicrosecondType>(array, number, visit)
            }
            ArrowType::Timestamp(TimeUnit::Nanosecond, _) => {
                primitive::<TimestampNanosecondType>(array, |n| number(n.div_euclid(1000)), visit)
            }
            _ => None,
        },
        // Microseconds of 64 bits, as the reference counts them.
        Kind::WideTimestamp { .. } => primitive::<Decimal128Type>(array, |n| number(n.div_euclid(1000) as i64), visit),
        Kind::Char(_) | Kind::Varchar(_) => {
            array.as_string_opt::<i32>().map(|a| a.iter().try_for_each(|v| visit(v.map(|s| bytes(s.as_bytes())))))
        }
        Kind::Binary(_) | Kind::Varbinary(_) => {
            array.as_binary_opt::<i32>().map(|a| a.iter().try_for_each(|v| visit(v.map(bytes))))
        }
        _ => None,
    };
    done.unwrap_or_else(|| Err(Error::invalid(format!("an array of {} is not one of {kind:?}", array.data_type()))))
}
