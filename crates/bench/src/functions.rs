//! Tables of `merge-engine=aggregation`: twenty columns with functions over single values, and one column for each of the
//! twenty functions.

use std::sync::Arc;

use anyhow::Result;
use arrow_array::{ArrayRef, BinaryArray};
use arrow_schema::DataType;
use datasketches::hll::{HllSketch, HllType};
use datasketches::theta::ThetaSketchBuilder;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use roaring::RoaringBitmap;

use crate::values::values;

/// A column: its function and its SQL type.
pub(crate) type Column = (&'static str, &'static str);

/// Functions whose values are numbers, words, dates and switches.
pub(crate) const SCALARS: [Column; 20] = [
    ("sum", "BIGINT"),
    ("sum", "INT"),
    ("sum", "DOUBLE"),
    ("sum", "DECIMAL(18, 2)"),
    ("product", "DOUBLE"),
    ("max", "BIGINT"),
    ("max", "DOUBLE"),
    ("max", "STRING"),
    ("min", "BIGINT"),
    ("min", "INT"),
    ("min", "DATE"),
    ("last_value", "BIGINT"),
    ("last_value", "STRING"),
    ("last_non_null_value", "BIGINT"),
    ("last_non_null_value", "STRING"),
    ("first_value", "INT"),
    ("first_non_null_value", "STRING"),
    ("bool_and", "BOOLEAN"),
    ("bool_or", "BOOLEAN"),
    ("listagg", "STRING"),
];

/// Every function once.
pub(crate) const EVERY: [Column; 20] = [
    ("sum", "BIGINT"),
    ("product", "DOUBLE"),
    ("max", "BIGINT"),
    ("min", "BIGINT"),
    ("last_value", "STRING"),
    ("last_non_null_value", "STRING"),
    ("first_value", "INT"),
    ("first_non_null_value", "INT"),
    ("bool_and", "BOOLEAN"),
    ("bool_or", "BOOLEAN"),
    ("listagg", "STRING"),
    ("collect", "ARRAY<INT>"),
    ("merge_map", "MAP<STRING NOT NULL, INT>"),
    ("merge_map_with_keytime", "MAP<STRING NOT NULL, ROW<v INT, t STRING>>"),
    ("nested_update", "ARRAY<ROW<k INT, v STRING>>"),
    ("nested_partial_update", "ARRAY<ROW<k INT, v STRING>>"),
    ("theta_sketch", "BYTES"),
    ("hll_sketch", "BYTES"),
    ("rbm32", "BYTES"),
    ("rbm64", "BYTES"),
];

/// Different sketches and bitmaps of one column.
const SKETCHES: u64 = 64;

/// The options of a column.
pub(crate) fn options(name: &str, function: &str) -> Vec<(String, String)> {
    let mut options = vec![(format!("fields.{name}.aggregate-function"), function.to_owned())];
    if function.starts_with("nested") {
        options.push((format!("fields.{name}.nested-key"), "k".to_owned()));
    }
    if function == "collect" {
        options.push((format!("fields.{name}.distinct"), "true".to_owned()));
    }
    options
}

/// Values that a function takes.
pub(crate) fn of(function: &str, data_type: &DataType, rows: usize, rng: &mut ChaCha8Rng) -> Result<ArrayRef> {
    let make: fn(u64) -> Result<Vec<u8>> = match function {
        "theta_sketch" => theta,
        "hll_sketch" => hll,
        "rbm32" => bitmap,
        "rbm64" => wide_bitmap,
        _ => return values(data_type, rows, rng),
    };
    let pool = (0..SKETCHES).map(make).collect::<Result<Vec<_>>>()?;
    let picked = (0..rows).filter_map(|_| pool.get(rng.random_range(0..pool.len())));
    Ok(Arc::new(BinaryArray::from_iter_values(picked)))
}

fn theta(number: u64) -> Result<Vec<u8>> {
    let mut sketch = ThetaSketchBuilder::default().build().map_err(|e| anyhow::anyhow!("{e}"))?;
    (number..number + 3).for_each(|item| sketch.update(item));
    Ok(sketch.compact(true).serialize())
}

fn hll(number: u64) -> Result<Vec<u8>> {
    let mut sketch = HllSketch::new(12, HllType::Hll4).map_err(|e| anyhow::anyhow!("{e}"))?;
    (number..number + 3).for_each(|item| sketch.update(item));
    Ok(sketch.serialize())
}

fn bitmap(number: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let number = u32::try_from(number)?;
    (number..number + 3).collect::<RoaringBitmap>().serialize_into(&mut bytes)?;
    Ok(bytes)
}

/// A 64-bit bitmap of one container, as Java serialises it: a tree of one leaf, then the container of lower 16 bits.
fn wide_bitmap(number: u64) -> Result<Vec<u8>> {
    let (leaf, not_trimmed, values) = (4, 0xfe, 2);
    let mut bytes = vec![1];
    bytes.extend(1_u64.to_le_bytes());
    bytes.extend([leaf, 0, 0, 0]);
    bytes.extend([0; 6]);
    bytes.extend(0_u64.to_le_bytes());
    bytes.extend(1_u32.to_le_bytes());
    bytes.push(not_trimmed);
    bytes.extend(1_u32.to_le_bytes());
    bytes.extend([1, values]);
    bytes.extend(3_u32.to_le_bytes());
    for value in number..number + 3 {
        bytes.extend(u16::try_from(value)?.to_le_bytes());
    }
    bytes.extend(1_u64.to_le_bytes());
    bytes.extend(0_u64.to_le_bytes());
    Ok(bytes)
}
