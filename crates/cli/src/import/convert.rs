//! A column as read becomes a column of the table; values that do not fit are named, never bent.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BinaryArray, StringArray, new_null_array};
use arrow::compute::{CastOptions, can_cast_types, cast_with_options};
use arrow::datatypes::{DataType as ArrowType, Field, Schema};
use arrow::util::display::array_value_to_string;
use linn::format::limit;
use linn::format::types::{DataField, Kind};
use linn::{Error, Result};

/// A value that does not fit: its row in the batch, and why.
pub(crate) type Misfit = (usize, String);

/// Converts a column. In the result the values of misfits are null.
///
/// # Errors
/// `Unsupported` when there is no way from the one type to the other.
pub(crate) fn convert(column: &ArrayRef, field: &DataField, arrow: &Field) -> Result<(ArrayRef, Vec<Misfit>)> {
    let to = arrow.data_type();
    let text = matches!(column.data_type(), ArrowType::Utf8 | ArrowType::LargeUtf8 | ArrowType::Utf8View);
    let converted = if text && to.is_nested() {
        return nested(column, field, arrow);
    } else if column.data_type() == to {
        Arc::clone(column)
    } else if text && *to == ArrowType::Binary {
        bytes(&trimmed(column)?)
    } else if text && *to != ArrowType::Utf8 {
        cast(&trimmed(column)?, to, field)?
    } else {
        cast(column, to, field)?
    };
    let mut misfits = Vec::new();
    let exact = is_exact(column, &converted)?;
    let infinite = limit::overflow(column, &converted);
    for row in 0..column.len() {
        let lost = column.is_valid(row)
            && (converted.is_null(row) || exact.as_ref().is_some_and(|e| !e(row)) || infinite.contains(&row));
        if lost {
            let value = array_value_to_string(column, row)?;
            let article = if article_an(&field.data_type.to_string()) { "an" } else { "a" };
            misfits.push((row, format!("{:?} is not {article} {}", shown(&value), bare(field))));
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
        return Err(Error::unsupported(format!("a conversion of {from} to {}", field.data_type))
            .with("column", &field.name)
            .with_hint("write the column in another type, or import it through SQL with an expression"));
    }
    Ok(cast_with_options(column, to, &CastOptions { safe: true, ..CastOptions::default() })?)
}

/// Text without white space around it, and nothing where nothing is left.
fn trimmed(column: &ArrayRef) -> Result<ArrayRef> {
    let text = arrow::compute::cast(column, &ArrowType::Utf8)?;
    let trimmed: StringArray = text.as_string::<i32>().iter().map(|value| value.map(str::trim)).collect();
    Ok(Arc::new(trimmed))
}

/// Bytes from hexadecimal digits, as they are exported; other text is null.
fn bytes(column: &ArrayRef) -> ArrayRef {
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
    let values: BinaryArray = column.as_string::<i32>().iter().map(|value| value.and_then(decode)).collect();
    Arc::new(values)
}

/// Whether a value kept its fraction, for conversions that would drop it.
fn is_exact(from: &ArrayRef, to: &ArrayRef) -> Result<Option<Box<dyn Fn(usize) -> bool>>> {
    let fractional = from.data_type().is_floating() || matches!(from.data_type(), ArrowType::Decimal128(..));
    if !fractional || !to.data_type().is_integer() {
        return Ok(None);
    }
    let back = cast_with_options(to, from.data_type(), &CastOptions { safe: true, ..CastOptions::default() })?;
    let same = arrow::compute::kernels::cmp::eq(from, &back)?;
    Ok(Some(Box::new(move |row| same.is_valid(row) && same.value(row))))
}

/// Nested values from their JSON text.
fn nested(column: &ArrayRef, field: &DataField, arrow: &Field) -> Result<(ArrayRef, Vec<Misfit>)> {
    if matches!(field.data_type.kind, Kind::Variant) {
        return Err(Error::unsupported("feature importing VARIANT from text").with("column", &field.name));
    }
    let text = arrow::compute::cast(column, &ArrowType::Utf8)?;
    let text = text.as_string::<i32>();
    let values: Vec<Option<&str>> = text.iter().collect();
    if let Ok(all) = decode(&values, arrow) {
        return Ok((all, Vec::new()));
    }
    let (mut parts, mut misfits) = (Vec::with_capacity(values.len()), Vec::new());
    for (row, value) in values.iter().enumerate() {
        match decode(&[*value], arrow) {
            Ok(one) => parts.push(one),
            Err(e) => {
                parts.push(new_null_array(arrow.data_type(), 1));
                let value = shown(value.unwrap_or_default());
                misfits.push((row, format!("{value:?} is not JSON of {}: {e}", bare(field))));
            }
        }
    }
    let parts: Vec<&dyn Array> = parts.iter().map(|part| part.as_ref()).collect();
    Ok((arrow::compute::concat(&parts)?, misfits))
}

fn decode(values: &[Option<&str>], field: &Field) -> Result<ArrayRef, arrow::error::ArrowError> {
    let schema = Arc::new(Schema::new(vec![field.clone().with_name("v").with_nullable(true)]));
    let mut decoder = arrow_json::ReaderBuilder::new(schema).with_batch_size(values.len().max(1)).build_decoder()?;
    for value in values {
        // One value cannot pass for two: it must be JSON by itself.
        let value = value.unwrap_or("null");
        serde_json::from_str::<serde::de::IgnoredAny>(value)
            .map_err(|e| arrow::error::ArrowError::JsonError(e.to_string()))?;
        decoder.decode(format!("{{\"v\":{value}}}\n").as_bytes())?;
    }
    match decoder.flush()? {
        Some(batch) if batch.num_rows() == values.len() => Ok(Arc::clone(batch.column(0))),
        _ if values.is_empty() => Ok(new_null_array(field.data_type(), 0)),
        _ => Err(arrow::error::ArrowError::JsonError("not one value".into())),
    }
}

/// The type as users write it, without its nullability.
fn bare(field: &DataField) -> String {
    field.data_type.clone().with_nullable(true).to_string()
}

fn article_an(word: &str) -> bool {
    word.starts_with(['A', 'E', 'I', 'O'])
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
        convert(&column, &field, &arrow_field(&field).unwrap()).unwrap()
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
