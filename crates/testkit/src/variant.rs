//! VARIANT values as JSON text, in the spelling that the expected rows have (encoding: the Variant specification of Parquet).

use chrono::{DateTime, NaiveDate, TimeDelta};
use serde_json::json;

/// The text of a variant.
///
/// # Panics
/// When the bytes are no variant.
pub fn text(value: &[u8], metadata: &[u8]) -> String {
    let (kind, header) = (value[0] & 3, value[0] >> 2);
    let rest = &value[1..];
    match kind {
        0 => primitive(header, rest),
        1 => json!(utf8(&rest[..usize::from(header)])).to_string(),
        2 => object(header, rest, metadata),
        _ => array(header, rest, metadata),
    }
}

fn primitive(kind: u8, bytes: &[u8]) -> String {
    let signed = |size: usize| {
        let negative = bytes[size - 1] & 0x80 != 0;
        bytes[..size].iter().rev().fold(if negative { -1i64 } else { 0 }, |n, b| (n << 8) | i64::from(*b))
    };
    match kind {
        0 => "null".to_owned(),
        1 => "true".to_owned(),
        2 => "false".to_owned(),
        3 => signed(1).to_string(),
        4 => signed(2).to_string(),
        5 => signed(4).to_string(),
        6 => signed(8).to_string(),
        7 => double(f64::from_le_bytes(bytes[..8].try_into().unwrap_or_default())),
        8..=10 => decimal(bytes[0], &bytes[1..][..2 << (kind - 7)]),
        11 => json!((NaiveDate::default() + TimeDelta::days(signed(4))).to_string()).to_string(),
        12 | 13 => json!(DateTime::from_timestamp_micros(signed(8)).unwrap_or_default().to_rfc3339()).to_string(),
        14 => format!("{:?}", f32::from_le_bytes(bytes[..4].try_into().unwrap_or_default())),
        16 => json!(utf8(&bytes[4..][..unsigned(bytes, 0, 4)])).to_string(),
        other => panic!("variant primitive {other} has no JSON form"),
    }
}

/// With one digit before the point, and the exponent after an E.
fn double(value: f64) -> String {
    let text = format!("{value:?}");
    match text.split_once('e') {
        Some((digits, exponent)) if digits.contains('.') => format!("{digits}E{exponent}"),
        Some((digits, exponent)) => format!("{digits}.0E{exponent}"),
        None => text,
    }
}

fn decimal(scale: u8, bytes: &[u8]) -> String {
    let negative = bytes.last().is_some_and(|b| b & 0x80 != 0);
    let unscaled = bytes.iter().rev().fold(if negative { -1i128 } else { 0 }, |n, b| (n << 8) | i128::from(*b));
    crate::render::decimal(unscaled, usize::from(scale))
}

fn object(header: u8, bytes: &[u8], metadata: &[u8]) -> String {
    let (offset_size, id_size) = (usize::from(header & 3) + 1, usize::from(header >> 2 & 3) + 1);
    let (count, start) = counted(bytes, header & 16 != 0);
    let (ids, offsets) = (&bytes[start..], &bytes[start + count * id_size..]);
    let values = &offsets[(count + 1) * offset_size..];
    let field = |i| {
        let value = text(&values[unsigned(offsets, i, offset_size)..], metadata);
        format!("{}:{value}", json!(name(metadata, unsigned(ids, i, id_size))))
    };
    format!("{{{}}}", (0..count).map(field).collect::<Vec<_>>().join(","))
}

fn array(header: u8, bytes: &[u8], metadata: &[u8]) -> String {
    let offset_size = usize::from(header & 3) + 1;
    let (count, start) = counted(bytes, header & 4 != 0);
    let offsets = &bytes[start..];
    let values = &offsets[(count + 1) * offset_size..];
    let item = |i| text(&values[unsigned(offsets, i, offset_size)..], metadata);
    format!("[{}]", (0..count).map(item).collect::<Vec<_>>().join(","))
}

/// A number of elements, and where what follows it starts.
fn counted(bytes: &[u8], large: bool) -> (usize, usize) {
    let size = if large { 4 } else { 1 };
    (unsigned(bytes, 0, size), size)
}

fn name(metadata: &[u8], id: usize) -> &str {
    let size = usize::from(metadata[0] >> 6) + 1;
    let count = unsigned(&metadata[1..], 0, size);
    let offsets = &metadata[1 + size..];
    let names = &offsets[(count + 1) * size..];
    utf8(&names[unsigned(offsets, id, size)..unsigned(offsets, id + 1, size)])
}

/// The number at `at` of numbers of `size` bytes.
fn unsigned(bytes: &[u8], at: usize, size: usize) -> usize {
    bytes[at * size..][..size].iter().rev().fold(0, |n, b| (n << 8) | usize::from(*b))
}

fn utf8(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_else(|e| panic!("no text in a variant: {e}"))
}
