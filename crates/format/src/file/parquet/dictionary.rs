//! Which columns a dictionary is worth trying for. One whose values hardly repeat would be hashed until the dictionary is full,
//! and then written plain all the same; so a sample of the first rows of a row group decides. It changes encodings only, never
//! values.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::DataType as Arrow;
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnPath;
use xxhash_rust::xxh3::xxh3_64;

/// Rows looked at, spread over the batch. Batches with fewer rows tell too little.
const SAMPLE: usize = 4096;
/// Of a sample without repetition up to this many values in a thousand are distinct by chance although a dictionary of 1 MiB
/// would hold all values.
const DISTINCT_PER_MILLE: usize = 960;
/// Bytes of a large value.
const LARGE: usize = 64 << 10;

/// The properties for a row group that begins with this batch.
pub(super) fn fit(properties: &Arc<WriterProperties>, batch: &RecordBatch) -> Arc<WriterProperties> {
    let schema = batch.schema_ref();
    let unfit: Vec<ColumnPath> = schema
        .fields()
        .iter()
        .zip(batch.columns())
        .map(|(field, column)| (ColumnPath::new(vec![field.name().clone()]), column))
        .filter(|(path, column)| properties.dictionary_enabled(path) && (is_large(column) || hardly_repeats(column)))
        .map(|(path, _)| path)
        .collect();
    if unfit.is_empty() {
        return Arc::clone(properties);
    }
    let builder = WriterProperties::clone(properties).into_builder();
    Arc::new(
        unfit.into_iter().fold(builder, |builder, path| builder.set_column_dictionary_enabled(path, false)).build(),
    )
}

/// Whether a dictionary of 1 MiB would be full after a few values, of which it holds the last one whole.
fn is_large(column: &ArrayRef) -> bool {
    let ends = match column.data_type() {
        Arrow::Utf8 => column.as_string_opt::<i32>().map(|values| values.value_offsets()),
        Arrow::Binary => column.as_binary_opt::<i32>().map(|values| values.value_offsets()),
        _ => None,
    };
    let bytes = ends.and_then(|ends| ends.last().zip(ends.first())).map_or(0, |(end, start)| end - start);
    usize::try_from(bytes).is_ok_and(|bytes| bytes / column.len().max(1) > LARGE)
}

fn hardly_repeats(column: &ArrayRef) -> bool {
    if column.len() < SAMPLE || column.null_count() > 0 && column.len() - column.null_count() < SAMPLE {
        return false;
    }
    let step = column.len() / SAMPLE;
    let rows = (0..SAMPLE).map(|i| i * step).filter(|row| column.is_valid(*row));
    let Some(mut hashes) = hashes(column, rows) else { return false };
    let sampled = hashes.len();
    hashes.sort_unstable();
    hashes.dedup();
    sampled > SAMPLE / 4 && hashes.len() * 1000 > sampled * DISTINCT_PER_MILLE
}

/// Hashes of values; `None` for types whose columns never have a dictionary or have several leaves.
fn hashes(column: &ArrayRef, rows: impl Iterator<Item = usize>) -> Option<Vec<u64>> {
    match column.data_type() {
        Arrow::Utf8 => {
            let values = column.as_string_opt::<i32>()?;
            Some(rows.map(|row| xxh3_64(values.value(row).as_bytes())).collect())
        }
        Arrow::Binary => {
            let values = column.as_binary_opt::<i32>()?;
            Some(rows.map(|row| xxh3_64(values.value(row))).collect())
        }
        other => {
            let width = other.primitive_width()?;
            let data = column.to_data();
            let bytes = data.buffers().first()?.as_slice();
            let value = |row: usize| bytes.get((data.offset() + row) * width..)?.get(..width);
            rows.map(|row| value(row).map(xxh3_64)).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::{Int64Array, StringArray};

    use super::*;

    fn check(column: impl Array + 'static, dictionary: bool) {
        let column: ArrayRef = Arc::new(column);
        let batch = RecordBatch::try_from_iter([("c", column.clone())]).unwrap();
        let path = ColumnPath::from("c");
        let fitted = fit(&Arc::new(WriterProperties::builder().build()), &batch);
        assert_eq!(fitted.dictionary_enabled(&path), dictionary);
        let sliced = fit(&Arc::new(WriterProperties::builder().build()), &batch.slice(1, batch.num_rows() - 1));
        assert_eq!(sliced.dictionary_enabled(&path), dictionary);
        let never = Arc::new(WriterProperties::builder().set_dictionary_enabled(false).build());
        assert!(!fit(&never, &batch).dictionary_enabled(&path));
    }

    #[test]
    fn only_values_that_repeat_get_a_dictionary() {
        let mix = |i: i64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64.cast_signed()) >> 8;
        check(Int64Array::from_iter_values(0..20_000), false);
        check(Int64Array::from_iter_values((0..60_000).map(|i| mix(i).rem_euclid(10_000))), true);
        check(Int64Array::from_iter_values((0..60_000).map(mix)), false);
        check(StringArray::from_iter_values((0..20_000).map(|i| format!("city-{}", i % 1000))), true);
        check(StringArray::from_iter_values((0..20_000).map(|i| format!("value-{i}"))), false);
        check(Int64Array::from_iter((0..20_000).map(|i| (i % 3 == 0).then_some(i))), false);
        check(Int64Array::from(vec![None; 20_000]), true);
        // Large values, however often they repeat.
        check(StringArray::from_iter_values((0..20).map(|_| "x".repeat(100_000))), false);
        // Too few to tell.
        check(Int64Array::from_iter_values(0..1000), true);
    }
}
