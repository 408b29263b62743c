//! What the metadata says exactly: row counts, and minima and maxima where they are not cut.

use datafusion::common::stats::Precision;
use datafusion::common::{ColumnStatistics, ScalarValue, Statistics};
use linn::core::scan::Content;
use linn::format::datum::{Datum, array_from_datums};
use linn::format::types::{DataField, Kind};
use linn::{Result, Split, Table};

/// Statistics of reading `fields` of the splits. Counts are exact when no row is merged away, deleted or filtered.
pub(super) fn statistics(table: &Table, fields: &[DataField], splits: &[Split], filtered: bool) -> Result<Statistics> {
    let schema = linn::format::types::arrow_schema(fields)?;
    let mut statistics = Statistics::new_unknown(&schema);
    let bytes: i64 = splits.iter().map(|split| split.files.bytes()).sum();
    statistics.total_byte_size = usize::try_from(bytes).map_or(Precision::Absent, Precision::Inexact);
    let mut rows = 0i64;
    let mut exact = !filtered;
    for split in splits {
        rows = rows.saturating_add(split.row_count());
        // Of changes, those that take rows back do not come out.
        exact &= split.raw_convertible
            && (matches!(split.content, Content::Rows) || !table.schema().is_primary_key_table())
            && (!table.schema().is_primary_key_table() || split.files.take_nothing_back());
        for deleted in split.deletion_files.iter().flatten() {
            match deleted.meta.cardinality {
                Some(count) => rows = rows.saturating_sub(count),
                None => exact = false,
            }
        }
    }
    let Ok(rows) = usize::try_from(rows) else { return Ok(statistics) };
    statistics.num_rows = if exact { Precision::Exact(rows) } else { Precision::Inexact(rows) };
    let whole = exact && splits.iter().all(|s| s.deletion_files.iter().all(Option::is_none));
    if whole && rows > 0 {
        for (column, field) in statistics.column_statistics.iter_mut().zip(fields) {
            if let Some(found) = column_statistics(table, field, splits)? {
                *column = found;
            }
        }
    }
    Ok(statistics)
}

/// Minimum, maximum and null count over all files; `None` unless every file tells, in the table's schema.
fn column_statistics(table: &Table, field: &DataField, splits: &[Split]) -> Result<Option<ColumnStatistics>> {
    let never_cut = matches!(
        field.data_type.kind,
        Kind::TinyInt | Kind::SmallInt | Kind::Int | Kind::BigInt | Kind::Date | Kind::Decimal { .. }
    );
    if !never_cut {
        return Ok(None);
    }
    let (mut min, mut max, mut nulls): (Option<Datum>, Option<Datum>, i64) = (None, None, 0);
    for file in splits.iter().flat_map(|s| &s.files) {
        if file.schema_id != table.schema().id {
            return Ok(None);
        }
        let Some(at) = position(table, field, file.value_stats_cols.as_deref()) else { return Ok(None) };
        let Some(Some(count)) = file.value_stats.null_counts.get(at) else { return Ok(None) };
        nulls = nulls.saturating_add(*count);
        if *count == file.row_count {
            continue;
        }
        let low = file.value_stats.min.datum(at, &field.data_type)?;
        let high = file.value_stats.max.datum(at, &field.data_type)?;
        let (Some(low), Some(high)) = (low, high) else { return Ok(None) };
        if min.as_ref().is_none_or(|m| low.compare(m).is_some_and(std::cmp::Ordering::is_lt)) {
            min = Some(low);
        }
        if max.as_ref().is_none_or(|m| high.compare(m).is_some_and(std::cmp::Ordering::is_gt)) {
            max = Some(high);
        }
    }
    let scalar = |value: Option<Datum>| -> Result<Precision<ScalarValue>> {
        let array = array_from_datums(&[value], &field.data_type)?;
        Ok(ScalarValue::try_from_array(&array, 0).map_or(Precision::Absent, Precision::Exact))
    };
    Ok(Some(ColumnStatistics {
        null_count: usize::try_from(nulls).map_or(Precision::Absent, Precision::Exact),
        min_value: scalar(min)?,
        max_value: scalar(max)?,
        ..ColumnStatistics::new_unknown()
    }))
}

fn position(table: &Table, field: &DataField, columns: Option<&[String]>) -> Option<usize> {
    match columns {
        Some(columns) => columns.iter().position(|c| *c == field.name),
        None => table.schema().fields.iter().position(|f| f.id == field.id),
    }
}
