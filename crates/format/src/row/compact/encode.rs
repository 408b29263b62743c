//! Columns to compacted rows.

use arrow_array::{ArrayRef, BinaryArray};
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};

use super::{header_len, put_var_int};
use crate::row::column::{Column, Data, columns, rows};
use crate::types::{DataType, MAX_COMPACT_DECIMAL, split, split_wide};
use crate::{Error, Result};

/// The rows of some columns, one after the other, each with row kind `+I`.
///
/// # Errors
/// `Invalid` when an array is not in the Arrow type of its type, or the rows are longer than 2 GiB together.
pub fn compact_rows(arrays: &[ArrayRef], types: &[DataType]) -> Result<BinaryArray> {
    let typed = columns(arrays, types)?;
    let rows = rows(arrays)?;
    let mut out = Vec::new();
    let mut offsets = Vec::with_capacity(rows + 1);
    offsets.push(0);
    for row in 0..rows {
        put_row(&typed, row, &mut out)?;
        let end = i32::try_from(out.len()).map_err(|_| Error::invalid("compacted rows of a batch beyond 2 GiB"))?;
        offsets.push(end);
    }
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    Ok(BinaryArray::try_new(offsets, Buffer::from_vec(out), None)?)
}

fn put_row(columns: &[Column], row: usize, out: &mut Vec<u8>) -> Result<()> {
    let start = out.len();
    out.resize(start + header_len(columns.len()), 0);
    for (i, column) in columns.iter().enumerate() {
        if column.is_null(row) {
            let bit = 8 + i;
            if let Some(byte) = out.get_mut(start + bit / 8) {
                *byte |= 1 << (bit % 8);
            }
        } else {
            put(column, row, out)?;
        }
    }
    Ok(())
}

fn put(column: &Column, row: usize, out: &mut Vec<u8>) -> Result<()> {
    match &column.data {
        Data::Bit(v) => out.push(u8::from(v.value(row))),
        Data::Byte(v) => out.extend(v[row].to_le_bytes()),
        Data::Short(v) => out.extend(v[row].to_le_bytes()),
        Data::Word(v) => out.extend(v[row].to_le_bytes()),
        Data::Long(v) => out.extend(v[row].to_le_bytes()),
        Data::Decimal { values, precision } => put_decimal(values[row], *precision, out)?,
        Data::Timestamp { values, per_milli, .. } => {
            let (millis, nanos) = split(values[row], *per_milli);
            out.extend(millis.to_le_bytes());
            put_var_int(out, u64::from(nanos.unsigned_abs()));
        }
        Data::WideTimestamp { values, .. } => {
            let (millis, nanos) = split_wide(values[row])?;
            out.extend(millis.to_le_bytes());
            put_var_int(out, u64::from(nanos.unsigned_abs()));
        }
        Data::String(v) => put_counted(&[v.value(row).as_bytes()], out),
        Data::Binary(v) => put_counted(&[v.value(row)], out),
        Data::Row(fields) => {
            let mut nested = Vec::new();
            put_row(fields, row, &mut nested)?;
            put_counted(&[&nested], out);
        }
        Data::Variant { value, metadata } => {
            let mut both = Vec::new();
            put_counted(&[value.value(row)], &mut both);
            put_counted(&[metadata.value(row)], &mut both);
            put_counted(&[&both], out);
        }
        nested => nested.parts(row, |pieces| put_counted(pieces, out))?,
    }
    Ok(())
}

fn put_counted(pieces: &[&[u8]], out: &mut Vec<u8>) {
    put_var_int(out, pieces.iter().map(|p| p.len() as u64).sum());
    pieces.iter().for_each(|p| out.extend_from_slice(p));
}

fn put_decimal(unscaled: i128, precision: u8, out: &mut Vec<u8>) -> Result<()> {
    if precision <= MAX_COMPACT_DECIMAL {
        let long = i64::try_from(unscaled)
            .map_err(|_| Error::invalid(format!("decimal {unscaled} has more than {precision} digits")))?;
        out.extend(long.to_le_bytes());
        return Ok(());
    }
    let wide = unscaled.to_be_bytes();
    let len = crate::row::encode::minimal_len(unscaled);
    put_counted(&[wide.get(16 - len..).unwrap_or(&wide)], out);
    Ok(())
}
