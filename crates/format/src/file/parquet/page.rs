//! Which rows of the chosen row groups to decode: those on pages that may match, less those that are deleted.

use parquet::arrow::arrow_reader::{RowSelection, RowSelector};
use parquet::data_type::AsBytes;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::page_index::column_index::ColumnIndexMetaData;
use roaring::RoaringTreemap;

use super::prune::{Columns, bounds};
use crate::predicate::Predicate;
use crate::stats::ColumnRange;

/// The rows to decode of the row groups `chosen`, in their order; none when all are to be decoded.
pub(super) fn rows(
    metadata: &ParquetMetaData,
    chosen: &[usize],
    pages: Option<(&Columns<'_>, &Predicate)>,
    deleted: Option<&RoaringTreemap>,
) -> Option<RowSelection> {
    let starts = starts(metadata);
    let mut selectors = Vec::new();
    let mut skips = false;
    for group in chosen {
        let (start, rows) = *starts.get(*group)?;
        let mut selection = RowSelection::from(vec![RowSelector::select(rows)]);
        for conjunct in pages.iter().flat_map(|(_, filter)| conjuncts(filter)) {
            let matching = pages.and_then(|(columns, _)| matching(metadata, *group, rows, columns, conjunct));
            selection = matching.map_or(selection.clone(), |pages| selection.intersection(&pages));
        }
        if let Some(deleted) = deleted {
            selection = selection.intersection(&alive(deleted, start, rows));
        }
        skips |= selection.row_count() < rows;
        selectors.extend(Vec::<RowSelector>::from(selection));
    }
    skips.then(|| selectors.into())
}

/// Position of the first row of each row group, and its rows.
fn starts(metadata: &ParquetMetaData) -> Vec<(u64, usize)> {
    let mut next = 0_u64;
    let start = |rows: i64| {
        // The footer was checked: no count is negative.
        let rows = usize::try_from(rows).unwrap_or_default();
        let start = next;
        next += rows as u64;
        (start, rows)
    };
    metadata.row_groups().iter().map(|g| g.num_rows()).map(start).collect()
}

fn conjuncts(filter: &Predicate) -> &[Predicate] {
    match filter {
        Predicate::And(all) => all,
        other => std::slice::from_ref(other),
    }
}

/// The pages of a row group that may match a filter over one column.
fn matching(
    metadata: &ParquetMetaData,
    group: usize,
    rows: usize,
    columns: &Columns<'_>,
    filter: &Predicate,
) -> Option<RowSelection> {
    let ids = filter.field_ids();
    let mut ids = ids.into_iter();
    let (Some(id), None) = (ids.next(), ids.next()) else { return None };
    let (field, Some(leaf)) = columns.find(id)? else { return None };
    let index = metadata.column_index()?.get(group)?.get(leaf)?;
    let locations = metadata.offset_index()?.get(group)?.get(leaf)?.page_locations();
    if matches!(index, ColumnIndexMetaData::NONE) || index.num_pages() != locations.len() as u64 {
        return None;
    }
    let column = metadata.row_group(group).column(leaf).column_descr_ptr();
    let mut selectors = Vec::with_capacity(locations.len());
    for (page, location) in locations.iter().enumerate() {
        let first = usize::try_from(location.first_row_index).ok()?;
        let next = locations.get(page + 1).map_or(Some(rows), |l| usize::try_from(l.first_row_index).ok())?;
        let count = next.checked_sub(first).filter(|_| next <= rows)?;
        let row_count = i64::try_from(count).ok()?;
        let null_count = if index.is_null_page(page) { Some(row_count) } else { index.null_count(page) };
        let (min, max) = bounds(&field.data_type.kind, &column, bound(index, page, false), bound(index, page, true));
        let range = ColumnRange { min, max, null_count, row_count };
        let keep = filter.may_match(|_| range.clone());
        selectors.push(if keep { RowSelector::select(count) } else { RowSelector::skip(count) });
    }
    Some(selectors.into())
}

fn bound(index: &ColumnIndexMetaData, page: usize, upper: bool) -> Option<Vec<u8>> {
    macro_rules! plain {
        ($index:expr) => {
            if upper { $index.max_value(page) } else { $index.min_value(page) }.map(|v| v.as_bytes().to_vec())
        };
    }
    match index {
        ColumnIndexMetaData::BOOLEAN(i) => plain!(i),
        ColumnIndexMetaData::INT32(i) => plain!(i),
        ColumnIndexMetaData::INT64(i) => plain!(i),
        ColumnIndexMetaData::FLOAT(i) => plain!(i),
        ColumnIndexMetaData::DOUBLE(i) => plain!(i),
        ColumnIndexMetaData::BYTE_ARRAY(i) | ColumnIndexMetaData::FIXED_LEN_BYTE_ARRAY(i) => {
            if upper { i.max_value(page) } else { i.min_value(page) }.map(<[u8]>::to_vec)
        }
        _ => None,
    }
}

/// The rows from position `start` that are not deleted.
fn alive(deleted: &RoaringTreemap, start: u64, rows: usize) -> RowSelection {
    let end = start + rows as u64;
    let mut selectors = Vec::new();
    let mut next = start;
    let mut positions = deleted.iter();
    positions.advance_to(start);
    for position in positions.take_while(|p| *p < end) {
        // Differences within a row group, whose rows fit usize.
        if position > next {
            selectors.push(RowSelector::select((position - next) as usize));
        }
        selectors.push(RowSelector::skip(1));
        next = position + 1;
    }
    selectors.push(RowSelector::select((end - next) as usize));
    selectors.into()
}
