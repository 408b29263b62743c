//! Which columns a dictionary is worth trying for, and which statistics. One whose values hardly repeat would be hashed until
//! the dictionary is full, and then written plain all the same; so a sample of the first rows of a row group decides. It changes
//! encodings only, never values.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::DataType as Arrow;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};
use parquet::schema::types::SchemaDescriptor;
use xxhash_rust::xxh3::xxh3_64;

/// Rows looked at, spread over the batch. Batches with fewer rows tell too little.
const SAMPLE: usize = 4096;
/// Of a sample without repetition up to this many values in a thousand are distinct by chance although a dictionary of 1 MiB
/// would hold all values.
const DISTINCT_PER_MILLE: usize = 960;
/// Bytes of a large value.
const LARGE: usize = 64 << 10;

/// The properties for a row group that begins with this batch, whose leaf columns are `leaves`.
pub(super) fn fit(
    properties: &Arc<WriterProperties>,
    leaves: &SchemaDescriptor,
    batch: &RecordBatch,
) -> Arc<WriterProperties> {
    let mut values = Vec::with_capacity(leaves.num_columns());
    batch.columns().iter().for_each(|column| leaves_of(column, &mut values));
    let mut fitted: Option<WriterPropertiesBuilder> = None;
    for (leaf, values) in leaves.columns().iter().zip(&values) {
        let (path, large) = (leaf.path(), is_large(values));
        let no_dictionary = properties.dictionary_enabled(path) && (large || hardly_repeats(values));
        if !large && !no_dictionary {
            continue;
        }
        let builder = fitted.take().unwrap_or_else(|| WriterProperties::clone(properties).into_builder());
        let builder = builder.set_column_dictionary_enabled(path.clone(), false);
        fitted = Some(match large {
            // Bounds are cut when they are written, but held whole until then.
            true => builder.set_column_statistics_enabled(path.clone(), EnabledStatistics::None),
            false => builder,
        });
    }
    fitted.map_or_else(|| Arc::clone(properties), |builder| Arc::new(builder.build()))
}

/// The values of the leaves of a column, in the order of the schema, those of lists and maps without what lies outside of them.
fn leaves_of(column: &ArrayRef, leaves: &mut Vec<ArrayRef>) {
    match column.data_type() {
        Arrow::List(_) => {
            if let Some(list) = column.as_list_opt::<i32>() {
                let Range { start, end } = within(list.value_offsets());
                leaves_of(&list.values().slice(start, end - start), leaves);
            }
        }
        Arrow::Map(..) => {
            if let Some(map) = column.as_map_opt() {
                let Range { start, end } = within(map.value_offsets());
                map.entries().slice(start, end - start).columns().iter().for_each(|field| leaves_of(field, leaves));
            }
        }
        Arrow::FixedSizeList(..) => {
            if let Some(list) = column.as_fixed_size_list_opt() {
                leaves_of(list.values(), leaves);
            }
        }
        Arrow::Struct(_) => {
            if let Some(row) = column.as_struct_opt() {
                row.columns().iter().for_each(|field| leaves_of(field, leaves));
            }
        }
        _ => leaves.push(Arc::clone(column)),
    }
}

/// Where the elements of lists lie.
fn within(offsets: &[i32]) -> Range<usize> {
    let at = |offset: Option<&i32>| offset.and_then(|offset| usize::try_from(*offset).ok()).unwrap_or(0);
    at(offsets.first())..at(offsets.last())
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

/// Hashes of values; `None` for types whose columns never have a dictionary.
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
    use arrow_array::{Int64Array, ListArray, MapArray, StringArray, StructArray};
    use arrow_buffer::OffsetBuffer;
    use arrow_schema::{Field, Fields};

    use super::*;
    use crate::file::parquet::schema::{Nanos, message};
    use crate::types::{DataField, DataType};

    fn decides(column: &ArrayRef, sql: &str, dictionary: &[bool]) {
        let fields = [DataField::new(0, "c", DataType::parse(sql).unwrap())];
        let leaves = message(&fields, Nanos::Bytes).unwrap();
        let fitted = |properties: WriterProperties, column: &ArrayRef| {
            let batch = RecordBatch::try_from_iter([("c", Arc::clone(column))]).unwrap();
            let properties = fit(&Arc::new(properties), &leaves, &batch);
            leaves.columns().iter().map(|leaf| properties.dictionary_enabled(leaf.path())).collect::<Vec<_>>()
        };
        assert_eq!(fitted(WriterProperties::builder().build(), column), dictionary, "{sql}");
        let sliced = column.slice(1, column.len() - 1);
        assert_eq!(fitted(WriterProperties::builder().build(), &sliced), dictionary, "{sql}, sliced");
        let never = WriterProperties::builder().set_dictionary_enabled(false).build();
        assert!(fitted(never, column).iter().all(|enabled| !enabled));
    }

    fn check(column: impl Array + 'static, dictionary: bool) {
        let sql = if column.data_type() == &Arrow::Utf8 { "STRING" } else { "BIGINT" };
        decides(&(Arc::new(column) as ArrayRef), sql, &[dictionary]);
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

    #[test]
    fn leaves_of_nested_columns_are_looked_at_one_by_one() {
        let lists = |values: ArrayRef| -> ArrayRef {
            let offsets = OffsetBuffer::from_repeated_length(2, values.len() / 2);
            let element = Arc::new(Field::new("element", values.data_type().clone(), true));
            Arc::new(ListArray::new(element, offsets, values, None))
        };
        let unique: ArrayRef = Arc::new(StringArray::from_iter_values((0..20_000).map(|i| format!("value-{i}"))));
        let few: ArrayRef = Arc::new(StringArray::from_iter_values((0..20_000).map(|i| format!("city-{}", i % 100))));
        decides(&lists(unique.clone()), "ARRAY<STRING>", &[false]);
        decides(&lists(few.clone()), "ARRAY<STRING>", &[true]);
        let fields = Fields::from(vec![Field::new("u", Arrow::Utf8, true), Field::new("f", Arrow::Utf8, true)]);
        let rows: ArrayRef = Arc::new(StructArray::new(fields.clone(), vec![unique.clone(), few.clone()], None));
        decides(&rows, "ROW<u STRING, f STRING>", &[false, true]);
        decides(&lists(rows), "ARRAY<ROW<u STRING, f STRING>>", &[false, true]);
        let fields = Fields::from(vec![Field::new("key", Arrow::Utf8, false), Field::new("value", Arrow::Utf8, true)]);
        let entries = StructArray::new(fields.clone(), vec![few, unique], None);
        let entry = Arc::new(Field::new("key_value", Arrow::Struct(fields), false));
        let map = MapArray::new(entry, OffsetBuffer::from_repeated_length(2, 10_000), entries, None, false);
        decides(&(Arc::new(map) as ArrayRef), "MAP<STRING, STRING>", &[true, false]);
    }
}
