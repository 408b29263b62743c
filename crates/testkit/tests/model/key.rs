//! Keys of every type that orders rows by other rules: values whose order is not that of their texts or bytes.

use linn_format::types::{DataType, Kind};
use serde_json::{Value, json};

/// How many keys there are.
pub(crate) const KEYS: u8 = 12;

/// A type of the key column, and its values.
#[derive(Debug, Clone)]
pub(crate) struct Key {
    pub(crate) sql: &'static str,
    values: Vec<Value>,
}

const TYPES: [&str; 12] = [
    "INT",
    "STRING",
    "DOUBLE",
    "DECIMAL(20, 2)",
    "BYTES",
    "TIMESTAMP(9)",
    "CHAR(9)",
    "DATE",
    "BIGINT",
    "DECIMAL(5, 1)",
    "FLOAT",
    "TIMESTAMP(3) WITH LOCAL TIME ZONE",
];

impl Key {
    /// Keys of one of the types; of INT where the format cannot have it.
    pub(crate) fn of(what: u8, format: &str) -> Self {
        let sql = TYPES[usize::from(what) % TYPES.len()];
        let sql = if format == "avro" && sql == "TIMESTAMP(9)" { "INT" } else { sql };
        let values = values(&DataType::parse(sql).unwrap().kind);
        assert_eq!(values.len(), usize::from(KEYS));
        Self { sql, values }
    }

    /// The value of a key.
    pub(crate) fn value(&self, key: u8) -> Value {
        self.values[usize::from(key % KEYS)].clone()
    }
}

fn values(kind: &Kind) -> Vec<Value> {
    match kind {
        Kind::Varchar(_) => {
            ["", "a", "aa", "ab", "b", "é", "\u{ffff}", "\u{10000}", "a\u{0}", "Z", "a long text of words", "10"]
                .map(Value::from)
                .to_vec()
        }
        Kind::Char(_) => {
            ["", "a", "aa", "ab", "b", "é", "z", "10", "9", "Z", "abcdefghi", "-"].map(Value::from).to_vec()
        }
        Kind::Double => {
            let mut all = vec![json!("-Infinity"), json!("NaN"), json!("Infinity")];
            all.extend([-1e300, -1.5, -0.0, 0.0, 1e-300, 0.5, 1.0, 1e300, 16_777_217.0].map(Value::from));
            all
        }
        Kind::Float => {
            let mut all = vec![json!("-Infinity"), json!("NaN"), json!("Infinity")];
            all.extend([-1e30, -1.5, -0.0, 0.0, 1e-30, 0.5, 1.0, 1e30, 3.25].map(Value::from));
            all
        }
        Kind::Decimal { precision: 20, .. } => [
            "-999999999999999999.99",
            "-92233720368547758.09",
            "-1.00",
            "-0.01",
            "0.00",
            "0.01",
            "9.00",
            "10.00",
            "92233720368547758.07",
            "92233720368547758.08",
            "999999999999999999.98",
            "999999999999999999.99",
        ]
        .map(Value::from)
        .to_vec(),
        Kind::Decimal { .. } => {
            ["-9999.9", "-1.0", "-0.1", "0.0", "0.1", "0.9", "1.0", "9.0", "10.0", "99.9", "100.0", "9999.9"]
                .map(Value::from)
                .to_vec()
        }
        Kind::Varbinary(_) => {
            ["", "00", "0000", "0001", "01", "7f", "80", "ff", "ff00", "ffff", "0102030405060708", "010203040506070809"]
                .map(Value::from)
                .to_vec()
        }
        Kind::Timestamp(_) => times().map(|(at, fraction)| json!(format!("{at}.{fraction:09}"))).to_vec(),
        Kind::LocalZonedTimestamp(_) => {
            times().map(|(at, fraction)| json!(format!("{at}.{:03}Z", fraction / 1_000_000))).to_vec()
        }
        Kind::Date => [
            "0001-01-01",
            "1582-10-04",
            "1582-10-15",
            "1900-02-28",
            "1969-12-31",
            "1970-01-01",
            "1970-01-02",
            "2000-02-29",
            "2024-02-29",
            "2024-03-01",
            "2038-01-19",
            "9999-12-31",
        ]
        .map(Value::from)
        .to_vec(),
        Kind::BigInt => {
            let mut all = vec![json!(i64::MIN), json!(i64::MAX)];
            all.extend([-1i64 << 32, -129, -1, 0, 1, 127, 128, 1 << 31, 1 << 32, 1 << 53].map(Value::from));
            all
        }
        _ => (0..KEYS).map(Value::from).collect(),
    }
}

/// Seconds and their billionths: far apart, and next to each other.
fn times() -> [(&'static str, u32); 12] {
    [
        ("1900-01-01T00:00:00", 0),
        ("1960-01-01T00:00:01", 0),
        ("1970-01-01T00:00:00", 0),
        ("1970-01-01T00:00:00", 1_000_000),
        ("2024-01-01T00:00:00", 123_000_000),
        ("2024-01-01T00:00:00", 124_000_000),
        ("2024-01-01T00:00:00", 999_000_000),
        ("2024-01-01T00:00:01", 0),
        ("2024-01-01T00:01:00", 0),
        ("2024-02-29T23:59:59", 999_000_000),
        ("2024-03-01T00:00:00", 0),
        ("2200-01-01T00:00:00", 500_000_000),
    ]
}
