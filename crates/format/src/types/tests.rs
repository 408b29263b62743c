//! Types in SQL, JSON and Arrow, there and back.

use arrow_schema::{DataType as Arrow, Field, Fields, Schema, TimeUnit};
use proptest::prelude::*;

use super::*;
use crate::ErrorKind;

fn check(sql: &str, printed: &str) {
    let parsed = DataType::parse(sql).unwrap();
    assert_eq!(parsed.to_string(), printed, "{sql}");
    assert_eq!(DataType::parse(printed).unwrap(), parsed, "{printed}");
    assert_eq!(DataType::from_json(&parsed.to_json()).unwrap(), parsed, "{sql}");
}

#[test]
fn sql_types_print_as_the_reference_prints_them() {
    for (sql, printed) in [
        ("int", "INT"),
        ("INTEGER NOT NULL", "INT NOT NULL"),
        ("string", "STRING"),
        ("VARCHAR(2147483647)", "STRING"),
        ("varchar(10)", "VARCHAR(10)"),
        ("VARCHAR", "STRING"),
        ("BYTES", "BYTES"),
        ("VARBINARY(3)", "VARBINARY(3)"),
        ("char(5)", "CHAR(5)"),
        ("decimal(10,2)", "DECIMAL(10, 2)"),
        ("NUMERIC", "DECIMAL(10, 0)"),
        ("double precision", "DOUBLE"),
        ("TIME", "TIME(0)"),
        ("TIMESTAMP", "TIMESTAMP(6)"),
        ("TIMESTAMP(3) WITHOUT TIME ZONE", "TIMESTAMP(3)"),
        ("TIMESTAMP_LTZ(3)", "TIMESTAMP(3) WITH LOCAL TIME ZONE"),
        ("TIMESTAMP WITH LOCAL TIME ZONE NOT NULL", "TIMESTAMP(6) WITH LOCAL TIME ZONE NOT NULL"),
        ("array<int>", "ARRAY<INT>"),
        ("INT ARRAY NOT NULL", "ARRAY<INT> NOT NULL"),
        ("MAP<STRING NOT NULL, MULTISET<INT>>", "MAP<STRING NOT NULL, MULTISET<INT>>"),
        ("ROW<a INT, `b c` ARRAY<STRING> 'it''s'>", "ROW<`a` INT, `b c` ARRAY<STRING> COMMENT 'it''s'>"),
        ("ROW<b INT, \"c d\" STRING, \"e\"\"f\" INT>", "ROW<`b` INT, `c d` STRING, `e\"f` INT>"),
        ("ROW<`b` INT, \"b \" ROW<\"int\" INT>>", "ROW<`b` INT, `b ` ROW<`int` INT>>"),
        ("ROW()", "ROW<>"),
        ("VECTOR<FLOAT, 4>", "VECTOR<FLOAT, 4>"),
        ("VARIANT", "VARIANT"),
        ("BLOB NOT NULL", "BLOB NOT NULL"),
    ] {
        check(sql, printed);
    }
}

#[test]
fn bad_types_are_refused_by_name() {
    for sql in [
        "",
        "INT INT",
        "DECIMAL(39)",
        "DECIMAL(3, 4)",
        "VARCHAR(0)",
        "TIME(10)",
        "ARRAY<INT",
        "MAP<INT>",
        "ROW<a INT, a INT>",
        "INT NOT",
    ] {
        assert_eq!(DataType::parse(sql).unwrap_err().kind(), ErrorKind::Invalid, "{sql}");
    }
    for (sql, name) in [("GEOMETRY", "GEOMETRY"), ("foo", "FOO")] {
        let e = DataType::parse(sql).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Unsupported, "{sql}");
        assert!(e.message().contains(name), "{e}");
    }
}

#[test]
fn hostile_nesting_ends_in_an_error() {
    let deep = "ARRAY<".repeat(100_000);
    assert_eq!(DataType::parse(&deep).unwrap_err().kind(), ErrorKind::Invalid);
    let suffixes = format!("INT {}", "ARRAY ".repeat(100_000));
    assert_eq!(DataType::parse(&suffixes).unwrap_err().kind(), ErrorKind::Invalid);
}

fn any_type() -> impl Strategy<Value = DataType> {
    let atomic = prop_oneof![
        (1u32..100).prop_map(Kind::Char),
        (1u32..100).prop_map(Kind::Varchar),
        Just(DataType::string().kind),
        Just(DataType::bytes().kind),
        Just(Kind::Boolean),
        (1u32..100).prop_map(Kind::Binary),
        (1u8..=38)
            .prop_flat_map(|p| (Just(p), 0..=p))
            .prop_map(|(precision, scale)| Kind::Decimal { precision, scale }),
        Just(Kind::TinyInt),
        Just(Kind::BigInt),
        Just(Kind::Double),
        Just(Kind::Date),
        (0u8..=9).prop_map(Kind::Time),
        (0u8..=9).prop_map(Kind::Timestamp),
        (0u8..=9).prop_map(Kind::LocalZonedTimestamp),
        Just(Kind::Variant),
    ];
    let leaf = (atomic, any::<bool>()).prop_map(|(kind, nullable)| DataType { kind, nullable });
    leaf.prop_recursive(4, 24, 4, |inner| {
        let kind = prop_oneof![
            inner.clone().prop_map(|t| Kind::Array(Box::new(t))),
            inner.clone().prop_map(|t| Kind::Multiset(Box::new(t))),
            (inner.clone(), inner.clone()).prop_map(|(k, v)| Kind::Map(Box::new(k), Box::new(v))),
            prop::collection::vec((inner, prop::option::of("[ -~]{0,8}")), 0..4).prop_map(|fields| {
                let field = |(i, (t, text)): (usize, (DataType, Option<String>))| DataField {
                    description: text.filter(|t| !t.is_empty()),
                    ..DataField::new(0, format!("f`{i}"), t)
                };
                Kind::Row(fields.into_iter().enumerate().map(field).collect())
            }),
        ];
        (kind, any::<bool>()).prop_map(|(kind, nullable)| DataType { kind, nullable })
    })
}

proptest! {
    #[test]
    fn types_survive_sql_and_json(t in any_type()) {
        let t = assign_nested_ids(t, &mut -1).unwrap();
        prop_assert_eq!(&DataType::from_json(&t.to_json()).unwrap(), &t);
        let parsed = assign_nested_ids(DataType::parse(&t.to_string()).unwrap(), &mut -1).unwrap();
        prop_assert_eq!(&parsed, &t);
        arrow_type(&t).unwrap();
    }

    #[test]
    fn any_text_parses_or_fails(text in "[A-Z<>(),'` 0-9]{0,40}") {
        let _ = DataType::parse(&text);
    }
}

#[test]
fn nested_parts_carry_the_ids_of_the_format() {
    let t = DataType::parse("ARRAY<MAP<INT NOT NULL, ARRAY<INT>>>").unwrap();
    let field = arrow_field(&DataField::new(10, "a", t)).unwrap();
    assert_eq!(field_id(&field), Some(10));
    let Arrow::List(element) = field.data_type() else { panic!("{field}") };
    let base = i32::MAX / 4;
    assert_eq!((element.name().as_str(), field_id(element)), ("element", Some(base + 1024 * 10 + 1)));
    let Arrow::Map(entries, false) = element.data_type() else { panic!("{element}") };
    let Arrow::Struct(parts) = entries.data_type() else { panic!("{entries}") };
    assert_eq!((entries.name().as_str(), field_id(&parts[0])), ("entries", Some(base - 1024 * 10 - 2)));
    assert_eq!((parts[1].name().as_str(), field_id(&parts[1])), ("value", Some(base + 1024 * 10 + 2)));
    let Arrow::List(inner) = parts[1].data_type() else { panic!("{parts:?}") };
    assert_eq!(field_id(inner), Some(base + 1024 * 10 + 3));
}

#[test]
fn ids_are_assigned_as_the_reference_does() {
    let t = |sql| DataType::parse(sql).unwrap();
    let columns = vec![
        DataField::new(9, "id", t("INT")),
        DataField::new(9, "r", t("ROW<a INT, b STRING, inner ROW<x INT, y STRING>>")),
        DataField::new(9, "arr", t("ARRAY<ROW<p INT>>")),
    ];
    let mut highest = -1;
    let fields = assign_ids(columns, &mut highest).unwrap();
    assert_eq!(fields.iter().map(|f| f.id).collect::<Vec<_>>(), [0, 1, 7]);
    let Kind::Row(parts) = &fields[1].data_type.kind else { panic!() };
    assert_eq!(parts.iter().map(|f| f.id).collect::<Vec<_>>(), [2, 3, 6]);
    assert_eq!((highest, highest_id(&fields)), (8, 8));
}

#[test]
fn columns_come_from_arrow_with_fresh_ids() {
    let inner = Fields::from(vec![Field::new("x", Arrow::UInt32, true)]);
    let schema = Schema::new(vec![
        Field::new("a", Arrow::LargeUtf8, false),
        Field::new("b", Arrow::Struct(inner), true),
        Field::new("c", Arrow::Timestamp(TimeUnit::Nanosecond, Some("Europe/Berlin".into())), true),
    ]);
    let fields = fields_from_arrow(&schema).unwrap();
    let printed: Vec<String> = fields.iter().map(|f| format!("{} {f}", f.id)).collect();
    assert_eq!(printed, ["0 `a` STRING NOT NULL", "1 `b` ROW<`x` BIGINT>", "3 `c` TIMESTAMP(9) WITH LOCAL TIME ZONE"]);
    let twice = Schema::new(vec![Field::new("a", Arrow::Int8, true), Field::new("a", Arrow::Int8, true)]);
    assert!(fields_from_arrow(&twice).unwrap_err().message().contains("\"a\""));
    let strange = Schema::new(vec![Field::new("a", Arrow::Duration(TimeUnit::Second), true)]);
    assert_eq!(fields_from_arrow(&strange).unwrap_err().kind(), ErrorKind::Unsupported);
}

#[test]
fn arrow_and_back_keeps_plain_types() {
    for sql in [
        "BOOLEAN",
        "TINYINT",
        "BIGINT",
        "FLOAT",
        "STRING",
        "BYTES",
        "DATE",
        "TIME(3)",
        "TIMESTAMP(3)",
        "TIMESTAMP(6)",
        "DECIMAL(38, 10)",
        "ARRAY<INT NOT NULL>",
        "MAP<INT NOT NULL, STRING>",
        "VECTOR<FLOAT, 4>",
        "ROW<`a` INT>",
    ] {
        let field = DataField::new(0, "c", DataType::parse(sql).unwrap());
        let back = fields_from_arrow(&arrow_schema(std::slice::from_ref(&field)).unwrap()).unwrap();
        assert_eq!(back[0].data_type.to_string(), sql);
    }
}
