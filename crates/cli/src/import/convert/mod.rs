//! A column as read becomes a column of the table; values that do not fit are named, never bent.

mod far;
mod nested;
pub(super) mod number;
mod time;

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BinaryArray, PrimitiveArray, StringArray, UInt32Array, new_null_array};
use arrow::compute::{CastOptions, can_cast_types, cast_with_options, take};
use arrow::datatypes::{DataType as ArrowType, Decimal128Type, Field, Float32Type, Float64Type, Int64Type};
use arrow::util::display::array_value_to_string;
use linn::format::limit;
use linn::format::types::{DataField, Kind};
use linn::{Error, Result};

pub(crate) use far::convert_all;

use super::Unknown;

/// A value that does not fit: its row in the batch, and why.
pub(crate) type Misfit = (usize, String);

/// Converts a column, whose timestamps must fit their Arrow type. What stands in the result for a misfit is of no use.
///
/// # Errors
/// `Unsupported` when there is no way from the one type to the other.
pub(crate) fn convert(
    column: &ArrayRef,
    field: &DataField,
    arrow: &Field,
    unknown: Unknown,
) -> Result<(ArrayRef, Vec<Misfit>)> {
    let column = &plain(column)?;
    if !arrow.data_type().is_nested() {
        return scalar(column, field, arrow);
    }
    let (converted, mut misfits) = nested::convert(column, field, arrow, unknown)?;
    misfits.sort_by_key(|(row, _)| *row);
    if misfits.is_empty() {
        return Ok((converted, misfits));
    }
    // The others are converted without them.
    let mut rows: Vec<Option<u32>> = (0..u32::try_from(column.len()).unwrap_or(u32::MAX)).map(Some).collect();
    for (row, _) in &misfits {
        if let Some(row) = rows.get_mut(*row) {
            *row = None;
        }
    }
    let column = take(column, &UInt32Array::from(rows), None)?;
    Ok((nested::convert(&column, field, arrow, unknown)?.0, misfits))
}

/// Dictionaries and runs as the values that they stand for, and texts and lists of large offsets as those of small ones.
fn plain(column: &ArrayRef) -> Result<ArrayRef> {
    let to = match column.data_type() {
        ArrowType::Dictionary(_, value) => value.as_ref().clone(),
        ArrowType::RunEndEncoded(_, values) => values.data_type().clone(),
        ArrowType::LargeUtf8 | ArrowType::Utf8View => ArrowType::Utf8,
        ArrowType::LargeBinary | ArrowType::BinaryView => ArrowType::Binary,
        ArrowType::LargeList(element) | ArrowType::ListView(element) | ArrowType::LargeListView(element) => {
            ArrowType::List(Arc::clone(element))
        }
        ArrowType::FixedSizeList(element, _) => ArrowType::List(Arc::clone(element)),
        _ => return Ok(Arc::clone(column)),
    };
    plain(&arrow::compute::cast(column, &to)?)
}

/// A column without parts, from text or from values.
fn scalar(column: &ArrayRef, field: &DataField, arrow: &Field) -> Result<(ArrayRef, Vec<Misfit>)> {
    let (from, to) = (column.data_type(), arrow.data_type());
    if *from == ArrowType::Null {
        return Ok((new_null_array(to, column.len()), Vec::new()));
    }
    let through_text = from.is_floating() && matches!(to, ArrowType::Decimal128(..))
        || matches!((from, to), (ArrowType::Decimal128(_, a), ArrowType::Decimal128(_, b)) if a > b)
        || matches!(from, ArrowType::Decimal256(..));
    let converted = if matches!(field.data_type.kind, Kind::WideTimestamp { .. }) {
        time::widen(column, to)?
    } else if from == to {
        Arc::clone(column)
    } else if from.is_nested() && *to == ArrowType::Utf8 {
        crate::output::json_texts(column)?
    } else if *from == ArrowType::Utf8 {
        read(column, to, field)?
    } else if through_text {
        read(&cast(column, &ArrowType::Utf8, field)?, to, field)?
    } else if time::is_rescaled(from, to) {
        time::rescale(column, to)?
    } else {
        cast(column, to, field)?
    };
    let mut misfits = Vec::new();
    let exact = is_exact(column, &converted)?;
    let infinite = limit::overflow(column, &converted);
    for row in 0..column.len() {
        let inexact = infinite.contains(&row) || exact.as_ref().is_some_and(|e| !e(row));
        let lost = column.is_valid(row) && (converted.is_null(row) || inexact);
        if lost {
            let value = array_value_to_string(column, row)?;
            misfits.push((row, format!("{:?} is not {}", shown(&value), a(field))));
        }
    }
    let admitted = limit::misfits(&converted, &field.data_type.clone().with_nullable(true));
    misfits.extend(admitted.into_iter().map(|misfit| (misfit.row, misfit.what)));
    Ok((converted, misfits))
}

/// Values that are cast to null where they do not fit.
fn cast(column: &ArrayRef, to: &ArrowType, field: &DataField) -> Result<ArrayRef> {
    let from = column.data_type();
    if !can_cast_types(from, to) {
        return Err(no_way(from, field));
    }
    Ok(cast_with_options(column, to, &CastOptions { safe: true, ..CastOptions::default() })?)
}

fn no_way(from: &ArrowType, field: &DataField) -> Error {
    Error::unsupported(format!("a conversion of {from} to {}", field.data_type))
        .with("column", &field.name)
        .with_hint("write the column in another type, or import it through SQL with an expression")
}

/// Values from their text; null for text that is none.
fn read(column: &ArrayRef, to: &ArrowType, field: &DataField) -> Result<ArrayRef> {
    let text: StringArray = column.as_string::<i32>().iter().map(|value| value.map(str::trim)).collect();
    Ok(match to {
        ArrowType::Utf8 => Arc::clone(column),
        ArrowType::Binary => bytes(&text),
        ArrowType::Int8 | ArrowType::Int16 | ArrowType::Int32 | ArrowType::Int64 => {
            let values: PrimitiveArray<Int64Type> = text.iter().map(|text| number::integer(text?)).collect();
            cast(&(Arc::new(values) as ArrayRef), to, field)?
        }
        ArrowType::Float32 => Arc::new(text.iter().map(|t| number::float(t?)).collect::<PrimitiveArray<Float32Type>>()),
        ArrowType::Float64 => {
            Arc::new(text.iter().map(|t| number::double(t?)).collect::<PrimitiveArray<Float64Type>>())
        }
        ArrowType::Decimal128(precision, scale) => {
            let scale = u8::try_from(*scale).unwrap_or_default();
            let values = text.iter().map(|text| number::decimal(text?, *precision, scale));
            Arc::new(values.collect::<PrimitiveArray<Decimal128Type>>().with_data_type(to.clone()))
        }
        ArrowType::Date32 | ArrowType::Time32(_) | ArrowType::Timestamp(..) => time::read(&text, to)?,
        _ => cast(&(Arc::new(text) as ArrayRef), to, field)?,
    })
}

/// Whether a number is the same in its new type, for conversions that do not say so by themselves.
fn is_exact(from: &ArrayRef, to: &ArrayRef) -> Result<Option<Box<dyn Fn(usize) -> bool>>> {
    let (old, new) = (from.data_type(), to.data_type());
    let drops_fraction = (old.is_floating() || matches!(old, ArrowType::Decimal128(..))) && new.is_integer();
    if !(drops_fraction || old.is_integer() && new.is_floating()) {
        return Ok(if old.is_floating() && new.is_floating() { Some(stays_finite(from, to)?) } else { None });
    }
    let back = cast_with_options(to, old, &CastOptions { safe: true, ..CastOptions::default() })?;
    let same = arrow::compute::kernels::cmp::eq(from, &back)?;
    Ok(Some(Box::new(move |row| same.is_valid(row) && same.value(row))))
}

/// Whether a float that was finite is so in the narrower type.
fn stays_finite(from: &ArrayRef, to: &ArrayRef) -> Result<Box<dyn Fn(usize) -> bool>> {
    let double = |column: &ArrayRef| -> Result<PrimitiveArray<Float64Type>> {
        Ok(arrow::compute::cast(column, &ArrowType::Float64)?.as_primitive::<Float64Type>().clone())
    };
    let (from, to) = (double(from)?, double(to)?);
    Ok(Box::new(move |row| from.value(row).is_finite() == to.value(row).is_finite()))
}

/// Bytes from hexadecimal digits, as they are exported; other text is null.
fn bytes(text: &StringArray) -> ArrayRef {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let decode = |text: &str| -> Option<Vec<u8>> {
        let digits = text.strip_prefix("\\x").or_else(|| text.strip_prefix("0x")).unwrap_or(text).as_bytes();
        digits
            .chunks(2)
            .map(|pair| match pair {
                [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
                _ => None,
            })
            .collect()
    };
    let values: BinaryArray = text.iter().map(|value| value.and_then(decode)).collect();
    Arc::new(values)
}

/// The type with its article.
fn a(field: &DataField) -> String {
    let name = bare(field);
    format!("{} {name}", if name.starts_with(['A', 'E', 'I', 'O']) { "an" } else { "a" })
}

/// The type as users write it, without its nullability.
fn bare(field: &DataField) -> String {
    field.data_type.clone().with_nullable(true).to_string()
}

/// The beginning of a value, for messages.
fn shown(value: &str) -> String {
    const LONGEST: usize = 60;
    match value.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &value[..at]),
        None => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::{Float64Array, Int64Array};
    use linn::format::types::{DataType, arrow_field};

    use super::*;

    fn check(column: ArrayRef, to: &str) -> (ArrayRef, Vec<Misfit>) {
        let field = DataField::new(0, "c", DataType::parse(to).unwrap());
        convert(&column, &field, &arrow_field(&field).unwrap(), Unknown::Refused).unwrap()
    }

    fn text(values: &[&str]) -> ArrayRef {
        Arc::new(StringArray::from(values.to_vec()))
    }

    #[test]
    fn words_are_not_numbers_and_numbers_must_fit() {
        let (column, misfits) = check(text(&["1", " 2 ", "abc", "300"]), "TINYINT");
        assert_eq!(column.null_count(), 2);
        let want = [(2, "\"abc\" is not a TINYINT".to_owned()), (3, "\"300\" is not a TINYINT".to_owned())];
        assert_eq!(misfits, want);
        assert_eq!(check(text(&["abc"]), "INT").1[0].1, "\"abc\" is not an INT");
        assert_eq!(check(Arc::new(Int64Array::from(vec![1 << 40])), "INT").1.len(), 1);
    }

    #[test]
    fn fractions_are_not_dropped() {
        let (_, misfits) = check(Arc::new(Float64Array::from(vec![Some(1.0), Some(1.5), None])), "INT");
        assert_eq!(misfits.iter().map(|m| m.0).collect::<Vec<_>>(), [1]);
        assert_eq!(check(text(&["1.5"]), "INT").1.len(), 1);
    }

    #[test]
    fn times_are_read() {
        assert!(check(text(&["2013-01-01"]), "DATE").1.is_empty());
        assert!(check(text(&["2013-01-01 05:00:00", "2013-01-01T05:00:00Z"]), "TIMESTAMP(3)").1.is_empty());
        assert_eq!(check(text(&["2013-02-30"]), "DATE").1.len(), 1);
    }

    #[test]
    fn long_texts_are_named() {
        assert_eq!(
            check(text(&["äb", "abc"]), "VARCHAR(2)").1,
            [(1, "a value of length 3 is too long for VARCHAR(2)".to_owned())]
        );
    }

    #[test]
    fn bytes_are_hexadecimal() {
        let (column, misfits) = check(text(&["00fF", "\\x01", "", "0", "zz"]), "BYTES");
        let expected = BinaryArray::from_iter([Some(&[0, 255][..]), Some(&[1]), Some(&[]), None, None]);
        assert_eq!(column.as_ref(), &expected as &dyn Array);
        let want = [(3, "\"0\" is not a BYTES".to_owned()), (4, "\"zz\" is not a BYTES".to_owned())];
        assert_eq!(misfits, want);
        assert_eq!(check(text(&["010203"]), "BINARY(3)").1, []);
    }

    #[test]
    fn nested_values_are_json() {
        let (column, misfits) = check(text(&["[1,2]", "[\"x\"]", "1},{\"v\":2"]), "ARRAY<INT>");
        assert_eq!(column.len(), 3);
        assert_eq!(misfits.iter().map(|m| m.0).collect::<Vec<_>>(), [1, 2]);
    }
}
