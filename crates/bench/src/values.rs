//! Random values of any type that a bench table has.

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::{Result, bail};
use arrow_array::types::Float64Type;
use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, Int32Array, Int64Array, ListArray, MapArray, PrimitiveArray,
    StringArray, StructArray,
};
use arrow_buffer::OffsetBuffer;
use arrow_schema::DataType;
use rand::Rng;
use rand_chacha::ChaCha8Rng;

/// Elements of an array, entries of a map.
const ELEMENTS: usize = 2;
/// Numbers and words differ in so many ways, so that some repeat.
const DISTINCT: i64 = 100_000;

/// So many values of a type, none null. Numbers are small and positive, so that they can be added up.
pub(crate) fn values(data_type: &DataType, rows: usize, rng: &mut ChaCha8Rng) -> Result<ArrayRef> {
    Ok(match data_type {
        DataType::Boolean => Arc::new((0..rows).map(|_| Some(rng.random())).collect::<BooleanArray>()),
        DataType::Int32 => Arc::new(Int32Array::from_iter_values((0..rows).map(|_| rng.random_range(0..1000)))),
        DataType::Int64 => Arc::new(Int64Array::from_iter_values((0..rows).map(|_| rng.random_range(0..DISTINCT)))),
        DataType::Date32 => Arc::new(Date32Array::from_iter_values((0..rows).map(|_| rng.random_range(0..20_000)))),
        DataType::Float64 => {
            let near_one = (0..rows).map(|_| 0.5 + rng.random::<f64>());
            Arc::new(PrimitiveArray::<Float64Type>::from_iter_values(near_one))
        }
        DataType::Decimal128(..) => {
            let values = (0..rows).map(|_| i128::from(rng.random_range(0..DISTINCT)));
            Arc::new(Decimal128Array::from_iter_values(values).with_data_type(data_type.clone()))
        }
        DataType::Utf8 => {
            let words = (0..rows).map(|_| format!("word-{:06}", rng.random_range(0..DISTINCT)));
            Arc::new(StringArray::from_iter_values(words))
        }
        DataType::Struct(fields) => {
            let columns = fields.iter().map(|field| values(field.data_type(), rows, rng)).collect::<Result<_>>()?;
            Arc::new(StructArray::try_new(fields.clone(), columns, None)?)
        }
        DataType::List(element) => {
            let elements = values(element.data_type(), rows * ELEMENTS, rng)?;
            let offsets = OffsetBuffer::from_repeated_length(ELEMENTS, rows);
            Arc::new(ListArray::try_new(element.clone(), offsets, elements, None)?)
        }
        DataType::Map(entries, ordered) => {
            let DataType::Struct(fields) = entries.data_type() else { bail!("a map without entries") };
            let mut columns = vec![keys(rows, rng)];
            for field in fields.iter().skip(1) {
                columns.push(values(field.data_type(), rows * ELEMENTS, rng)?);
            }
            let entry = StructArray::try_new(fields.clone(), columns, None)?;
            let offsets = OffsetBuffer::from_repeated_length(ELEMENTS, rows);
            Arc::new(MapArray::try_new(entries.clone(), offsets, entry, None, *ordered)?)
        }
        other => bail!("no values of type {other}"),
    })
}

/// The keys of maps: those of one map differ.
fn keys(rows: usize, rng: &mut ChaCha8Rng) -> ArrayRef {
    let mut keys = Vec::with_capacity(rows * ELEMENTS);
    for _ in 0..rows {
        let mut of_map = BTreeSet::new();
        while of_map.len() < ELEMENTS {
            of_map.insert(rng.random_range(0..20));
        }
        keys.extend(of_map.into_iter().map(|key| format!("key-{key}")));
    }
    Arc::new(StringArray::from_iter_values(keys))
}
