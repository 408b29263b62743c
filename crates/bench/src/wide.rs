//! A table of 200 columns that four sources fill, each with a sequence of its own: `merge-engine=partial-update`.

use anyhow::Result;
use arrow_array::{ArrayRef, Int64Array, RecordBatch, UInt32Array};
use arrow_schema::SchemaRef;
use rand::Rng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;

use crate::values::values;

/// Sources of rows.
pub(crate) const SOURCES: usize = 4;
/// Columns of a source, its sequence first.
const COLUMNS: usize = 50;

const TYPES: [&str; 4] = ["INT", "BIGINT", "DOUBLE", "STRING"];

/// The columns of all sources, one source after the other.
pub(crate) fn columns() -> Vec<(String, &'static str)> {
    let mut columns = Vec::with_capacity(SOURCES * COLUMNS);
    for source in 0..SOURCES {
        columns.push((format!("s{source}"), "BIGINT"));
        columns.extend(TYPES.iter().cycle().zip(1..COLUMNS).map(|(sql, n)| (format!("s{source}c{n}"), *sql)));
    }
    columns
}

/// A sequence group for each source.
pub(crate) fn options() -> Vec<(String, String)> {
    let mut options = vec![("merge-engine".to_owned(), "partial-update".to_owned())];
    for source in 0..SOURCES {
        let protected: Vec<String> = (1..COLUMNS).map(|n| format!("s{source}c{n}")).collect();
        options.push((format!("fields.s{source}.sequence-group"), protected.join(",")));
    }
    options
}

/// The columns behind the key, all filled.
pub(crate) fn of_all(schema: &SchemaRef, rows: usize, commit: usize, rng: &mut ChaCha8Rng) -> Result<Vec<ArrayRef>> {
    let mut columns = Vec::with_capacity(SOURCES * COLUMNS);
    for source in 0..SOURCES {
        columns.extend(of_source(schema, source, rows, commit, rng)?);
    }
    Ok(columns)
}

/// A row of each source for every key, in random order; columns of other sources are null.
pub(crate) fn of_sources(
    schema: &SchemaRef,
    keys: &[i64],
    commit: usize,
    batch: usize,
    rng: &mut ChaCha8Rng,
) -> Result<Vec<RecordBatch>> {
    let sources = (0..SOURCES).map(|source| of_source(schema, source, keys.len(), commit, rng));
    let sources = sources.collect::<Result<Vec<_>>>()?;
    let mut rows: Vec<(usize, usize)> = (0..SOURCES).flat_map(|s| (0..keys.len()).map(move |row| (s, row))).collect();
    rows.shuffle(rng);
    let mut batches = Vec::new();
    for rows in rows.chunks(batch) {
        let of_rows = rows.iter().filter_map(|(_, row)| keys.get(*row).copied());
        let mut columns: Vec<ArrayRef> = vec![Arc::new(Int64Array::from_iter_values(of_rows))];
        for (source, filled) in sources.iter().enumerate() {
            let place = |(of, row): &(usize, usize)| (*of == source).then(|| u32::try_from(*row)).transpose();
            let places = rows.iter().map(place).collect::<Result<Vec<_>, _>>()?;
            let places = UInt32Array::from(places);
            for column in filled {
                columns.push(arrow_select::take::take(column, &places, None)?);
            }
        }
        batches.push(RecordBatch::try_new(schema.clone(), columns)?);
    }
    Ok(batches)
}

/// The columns of one source. Its sequence goes up from commit to commit, and within one only by and large.
fn of_source(
    schema: &SchemaRef,
    source: usize,
    rows: usize,
    commit: usize,
    rng: &mut ChaCha8Rng,
) -> Result<Vec<ArrayRef>> {
    let start = commit as i64 * 10;
    let sequence = Int64Array::from_iter_values((0..rows).map(|_| start + rng.random_range(0..20)));
    let mut columns: Vec<ArrayRef> = vec![Arc::new(sequence)];
    for field in schema.fields().iter().skip(2 + source * COLUMNS).take(COLUMNS - 1) {
        columns.push(values(field.data_type(), rows, rng)?);
    }
    Ok(columns)
}
