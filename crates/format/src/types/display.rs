//! How a type is written as SQL text, exactly as in schema files (spec: format.md C.3).

use std::fmt;

use super::data_type::MAX_LENGTH;
use super::{DataField, DataType, Kind};

impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)?;
        if self.nullable { Ok(()) } else { f.write_str(" NOT NULL") }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Char(n) => write!(f, "CHAR({n})"),
            Self::Varchar(MAX_LENGTH) => f.write_str("STRING"),
            Self::Varchar(n) => write!(f, "VARCHAR({n})"),
            Self::Boolean => f.write_str("BOOLEAN"),
            Self::Binary(n) => write!(f, "BINARY({n})"),
            Self::Varbinary(MAX_LENGTH) => f.write_str("BYTES"),
            Self::Varbinary(n) => write!(f, "VARBINARY({n})"),
            Self::Decimal { precision, scale } => write!(f, "DECIMAL({precision}, {scale})"),
            Self::TinyInt => f.write_str("TINYINT"),
            Self::SmallInt => f.write_str("SMALLINT"),
            Self::Int => f.write_str("INT"),
            Self::BigInt => f.write_str("BIGINT"),
            Self::Float => f.write_str("FLOAT"),
            Self::Double => f.write_str("DOUBLE"),
            Self::Date => f.write_str("DATE"),
            Self::Time(p) => write!(f, "TIME({p})"),
            Self::Timestamp(p) | Self::WideTimestamp { precision: p, zoned: false } => write!(f, "TIMESTAMP({p})"),
            Self::LocalZonedTimestamp(p) | Self::WideTimestamp { precision: p, zoned: true } => {
                write!(f, "TIMESTAMP({p}) WITH LOCAL TIME ZONE")
            }
            Self::Array(element) => write!(f, "ARRAY<{element}>"),
            Self::Multiset(element) => write!(f, "MULTISET<{element}>"),
            Self::Map(key, value) => write!(f, "MAP<{key}, {value}>"),
            Self::Row(fields) => {
                f.write_str("ROW<")?;
                for (i, field) in fields.iter().enumerate() {
                    if i > 0 {
                        f.write_str(", ")?;
                    }
                    field.fmt(f)?;
                }
                f.write_str(">")
            }
            Self::Variant => f.write_str("VARIANT"),
            Self::Blob => f.write_str("BLOB"),
            Self::Vector { element, length } => write!(f, "VECTOR<{element}, {length}>"),
        }
    }
}

impl fmt::Display for DataField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.name.replace('`', "``"), self.data_type)?;
        match self.description.as_deref() {
            None | Some("") => {}
            Some(text) => write!(f, " COMMENT '{}'", text.replace('\'', "''"))?,
        }
        match &self.default_value {
            None => Ok(()),
            Some(value) => write!(f, " DEFAULT {value}"),
        }
    }
}
