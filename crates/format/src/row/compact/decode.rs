//! Compacted rows back to columns. Every row is laid out as a binary row first, whose decoding is checked and knows all
//! types.

use arrow_array::ArrayRef;

use super::{Front, header_len};
use crate::row::encode::Encoder;
use crate::row::slot::{MAX_COMPACT_TIMESTAMP, Section};
use crate::types::{DataType, Kind, MAX_COMPACT_DECIMAL, arrow_type};
use crate::{Error, Result};

/// The columns of compacted rows, in the Arrow types of `types`; row kinds are not looked at.
///
/// # Errors
/// `Corrupt` when the bytes of a row contradict the types.
pub fn columns_from_compact<'a>(rows: impl IntoIterator<Item = &'a [u8]>, types: &[DataType]) -> Result<Vec<ArrayRef>> {
    let mut laid_out = Vec::new();
    for row in rows {
        laid_out.push(lay_out(row, types.iter())?);
    }
    let sections: Vec<_> = laid_out.iter().map(|row| Some(Section::new(row.bytes()))).collect();
    let arrows = types.iter().map(arrow_type).collect::<Result<Vec<_>>>()?;
    crate::row::decode::fields(&sections, types.iter().zip(&arrows))
}

fn lay_out<'t>(row: &[u8], types: impl ExactSizeIterator<Item = &'t DataType>) -> Result<Encoder> {
    let arity = types.len();
    let mut out = Encoder::new(arity);
    let mut front = Front(row);
    let header = front.take(header_len(arity))?;
    for (i, data_type) in types.enumerate() {
        let bit = 8 + i;
        if header.get(bit / 8).is_some_and(|byte| byte >> (bit % 8) & 1 == 1) {
            out.set_null_bit(i);
        } else {
            field(&mut front, i, data_type, &mut out)?;
        }
    }
    if !front.0.is_empty() {
        return Err(Error::corrupt(format!("a compacted row has {} bytes too many", front.0.len())));
    }
    Ok(out)
}

fn field(front: &mut Front<'_>, i: usize, data_type: &DataType, out: &mut Encoder) -> Result<()> {
    match &data_type.kind {
        Kind::Boolean | Kind::TinyInt => out.put_fixed(i, front.fixed::<1>()?),
        Kind::SmallInt => out.put_fixed(i, front.fixed::<2>()?),
        Kind::Int | Kind::Float | Kind::Date | Kind::Time(_) => out.put_fixed(i, front.fixed::<4>()?),
        Kind::BigInt | Kind::Double => out.put_fixed(i, front.fixed::<8>()?),
        Kind::Decimal { precision, .. } if *precision <= MAX_COMPACT_DECIMAL => out.put_fixed(i, front.fixed::<8>()?),
        Kind::Timestamp(p) | Kind::LocalZonedTimestamp(p) | Kind::WideTimestamp { precision: p, .. } => {
            let millis = i64::from_le_bytes(front.fixed()?);
            let nanos = if *p <= MAX_COMPACT_TIMESTAMP { 0 } else { front.var::<32>()? };
            let nanos = i32::try_from(nanos).map_err(|_| Error::corrupt("timestamp of too many nanoseconds"))?;
            out.put_timestamp(i, millis, nanos, *p);
        }
        Kind::Char(_) | Kind::Varchar(_) | Kind::Binary(_) | Kind::Varbinary(_) | Kind::Blob => {
            out.put_bytes(i, front.counted()?)?;
        }
        Kind::Row(fields) => {
            let types: Vec<_> = fields.iter().map(|f| &f.data_type).collect();
            let nested = lay_out(front.counted()?, types.into_iter())?;
            out.put_part(i, &[nested.bytes()])?;
        }
        Kind::Variant => {
            let mut both = Front(front.counted()?);
            let (value, metadata) = (both.counted()?, both.counted()?);
            let len = i32::try_from(value.len()).map_err(|_| Error::corrupt("variant longer than 2 GiB"))?;
            out.put_part(i, &[&len.to_le_bytes(), value, metadata])?;
        }
        // Long decimals, arrays, maps and vectors lie as in a binary row.
        _ => out.put_part(i, &[front.counted()?])?,
    }
    Ok(())
}
