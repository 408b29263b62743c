//! Types of results as SQL spells them.

use datafusion::arrow::datatypes::{DataType as ArrowType, Field, Schema, TimeUnit};
use linn::format::types::{DataField, DataType, Kind, fields_from_arrow};

/// The columns of a result; a type that tables cannot have is named in words, see [`spelled`].
pub(super) fn fields(schema: &Schema) -> Vec<DataField> {
    let field = |field: &Field| {
        let found = fields_from_arrow(&Schema::new(vec![field.clone()])).ok().and_then(|mut found| found.pop());
        found.unwrap_or_else(|| {
            let kind = Kind::Varchar(i32::MAX.unsigned_abs());
            DataField::new(0, field.name(), DataType { nullable: field.is_nullable(), kind })
        })
    };
    schema.fields().iter().map(|f| field(f)).collect()
}

/// The type of a column of a result.
pub(super) fn spelled(data_type: &ArrowType) -> String {
    let field = Field::new("c", data_type.clone(), true);
    if let Ok(found) = fields_from_arrow(&Schema::new(vec![field]))
        && let Some(field) = found.first()
    {
        return field.data_type.to_string();
    }
    match data_type {
        ArrowType::Null => "NULL".to_owned(),
        ArrowType::Utf8View | ArrowType::LargeUtf8 | ArrowType::Utf8 => "STRING".to_owned(),
        ArrowType::BinaryView | ArrowType::LargeBinary => "BYTES".to_owned(),
        ArrowType::UInt8 => "SMALLINT".to_owned(),
        ArrowType::UInt16 => "INT".to_owned(),
        ArrowType::UInt32 => "BIGINT".to_owned(),
        ArrowType::UInt64 => "DECIMAL(20, 0)".to_owned(),
        ArrowType::Float16 => "FLOAT".to_owned(),
        ArrowType::Date64 => "DATE".to_owned(),
        ArrowType::Decimal32(p, s) | ArrowType::Decimal64(p, s) | ArrowType::Decimal128(p, s) => {
            format!("DECIMAL({p}, {s})")
        }
        ArrowType::Decimal256(p, s) => format!("DECIMAL({p}, {s})"),
        ArrowType::Interval(_) | ArrowType::Duration(_) => "INTERVAL".to_owned(),
        ArrowType::Time32(unit) | ArrowType::Time64(unit) => format!("TIME({})", digits(*unit)),
        ArrowType::Timestamp(unit, None) => format!("TIMESTAMP({})", digits(*unit)),
        ArrowType::Timestamp(unit, Some(_)) => format!("TIMESTAMP({}) WITH LOCAL TIME ZONE", digits(*unit)),
        ArrowType::List(item)
        | ArrowType::LargeList(item)
        | ArrowType::ListView(item)
        | ArrowType::LargeListView(item) => {
            format!("ARRAY<{}>", spelled(item.data_type()))
        }
        ArrowType::FixedSizeList(item, _) => format!("ARRAY<{}>", spelled(item.data_type())),
        ArrowType::Struct(fields) => {
            let fields: Vec<String> =
                fields.iter().map(|f| format!("`{}` {}", f.name(), spelled(f.data_type()))).collect();
            format!("ROW<{}>", fields.join(", "))
        }
        ArrowType::Map(entries, _) => match entries.data_type() {
            ArrowType::Struct(pair) => {
                let parts: Vec<String> = pair.iter().map(|f| spelled(f.data_type())).collect();
                format!("MAP<{}>", parts.join(", "))
            }
            _ => "MAP".to_owned(),
        },
        ArrowType::Dictionary(_, value) => spelled(value),
        ArrowType::RunEndEncoded(_, value) => spelled(value.data_type()),
        _ => "UNKNOWN".to_owned(),
    }
}

fn digits(unit: TimeUnit) -> u8 {
    match unit {
        TimeUnit::Second => 0,
        TimeUnit::Millisecond => 3,
        TimeUnit::Microsecond => 6,
        TimeUnit::Nanosecond => 9,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn no_type_is_spelled_as_arrow_does() {
        for (data_type, expected) in [
            (ArrowType::Int64, "BIGINT"),
            (ArrowType::Utf8View, "STRING"),
            (ArrowType::Timestamp(TimeUnit::Second, Some("+02:00".into())), "TIMESTAMP(0) WITH LOCAL TIME ZONE"),
            (ArrowType::List(Arc::new(Field::new("item", ArrowType::Utf8View, true))), "ARRAY<STRING>"),
            (ArrowType::UInt64, "DECIMAL(20, 0)"),
            (ArrowType::Null, "STRING"),
        ] {
            assert_eq!(spelled(&data_type), expected);
        }
    }
}
