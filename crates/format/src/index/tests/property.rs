//! Our indexes against the predicate itself, and damaged ones.

use std::sync::Arc;

use arrow_array::builder::{Int32Builder, MapBuilder, StringBuilder};
use arrow_array::{ArrayRef, Float64Array, Int8Array, Int32Array, Int64Array, StringArray, TimestampNanosecondArray};
use proptest::prelude::*;

use super::{batch, check};
use crate::datum::Datum;
use crate::fixture;
use crate::index::{IndexFile, IndexKind, IndexSpec, IndexWriter, evaluate};
use crate::options::Options;
use crate::predicate::{CompareOp, Predicate};
use crate::types::{DataField, DataType, Kind, arrow_schema};

/// Values that collide, and the corners.
pub(super) fn number() -> impl Strategy<Value = Option<i64>> {
    prop_oneof![
        Just(None),
        (-4i64..4).prop_map(Some),
        Just(Some(i64::MIN)),
        Just(Some(i64::MAX)),
        any::<i64>().prop_map(Some)
    ]
}

fn float(n: i64) -> f64 {
    match n {
        0 => 0.0,
        1 => -0.0,
        2 => f64::NAN,
        3 => f64::INFINITY,
        n => n as f64 / 2.0,
    }
}

fn fields() -> Vec<DataField> {
    let field = |id, name: &str, kind| DataField::new(id, name, DataType::nullable(kind));
    vec![
        field(0, "tiny", Kind::TinyInt),
        field(1, "big", Kind::BigInt),
        field(2, "real", Kind::Double),
        field(3, "text", DataType::string().kind),
        field(4, "time", Kind::Timestamp(9)),
    ]
}

fn columns(rows: &[Option<i64>]) -> Vec<ArrayRef> {
    let rows = || rows.iter().copied();
    vec![
        Arc::new(rows().map(|n| n.map(|n| n as i8)).collect::<Int8Array>()),
        Arc::new(rows().collect::<Int64Array>()),
        Arc::new(rows().map(|n| n.map(float)).collect::<Float64Array>()),
        Arc::new(rows().map(|n| n.map(|n| format!("é{n}"))).collect::<StringArray>()),
        Arc::new(rows().map(|n| n.map(|n| n / 2)).collect::<TimestampNanosecondArray>()),
    ]
}

fn literal(field: i32, n: i64) -> Datum {
    match field {
        0 => Datum::TinyInt(n as i8),
        1 => Datum::BigInt(n),
        2 => Datum::Double(float(n)),
        3 => Datum::String(format!("é{n}")),
        // Halved, so that milliseconds as nanoseconds stay within 64 bits.
        _ => Datum::Timestamp { millis: (n / 2).div_euclid(1_000_000), nanos: (n / 2).rem_euclid(1_000_000) as i32 },
    }
}

/// Predicates over the fields below `fields`, of literals that numbers stand for.
pub(super) fn predicate(fields: i32, literal: fn(i32, i64) -> Datum) -> impl Strategy<Value = Predicate> {
    use CompareOp::{Eq, Gt, GtEq, Lt, LtEq, NotEq};
    let op = prop::sample::select(vec![Eq, NotEq, Lt, LtEq, Gt, GtEq]);
    let some = || number().prop_map(|n| n.unwrap_or(0));
    let leaf = prop_oneof![
        (0..fields, op, some()).prop_map(move |(field_id, op, n)| Predicate::Compare {
            field_id,
            op,
            literal: literal(field_id, n)
        }),
        (0..fields, prop::collection::vec(some(), 0..4), any::<bool>()).prop_map(move |(field_id, ns, negated)| {
            let literals = ns.into_iter().map(|n| literal(field_id, n)).collect();
            Predicate::In { field_id, literals, negated }
        }),
        (0..fields, any::<bool>()).prop_map(|(field_id, negated)| Predicate::IsNull { field_id, negated }),
        any::<bool>().prop_map(Predicate::Constant),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..3).prop_map(Predicate::And),
            prop::collection::vec(inner.clone(), 1..3).prop_map(Predicate::Or),
            inner.prop_map(|p| Predicate::Not(Box::new(p))),
        ]
    })
}

fn kinds() -> impl Strategy<Value = IndexKind> {
    prop_oneof![
        Just(IndexKind::BloomFilter { items: 20, fpp: 0.1 }),
        Just(IndexKind::Bitmap { version: 1, block_size: 0 }),
        (0usize..100).prop_map(|block_size| IndexKind::Bitmap { version: 2, block_size }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn no_row_is_lost(rows in prop::collection::vec(number(), 1..40), kind in kinds(), predicate in predicate(5, literal)) {
        let fields = fields();
        let specs: Vec<IndexSpec> = fields.iter().map(|f| IndexSpec { column: f.name.clone(), kind }).collect();
        let mut writer = IndexWriter::new(&fields, &specs).unwrap();
        let batch = batch(&fields, columns(&rows));
        writer.update(&batch).unwrap();
        check(&writer.finish().unwrap().unwrap(), &batch, &fields, &predicate);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn damage_is_an_error_or_another_answer(table in 0usize..4, at in any::<prop::sample::Index>(), flip in 1u8.., n in number()) {
        let table = ["x21_fileindex_bsi", "x21_fileindex_range_bitmap", "x21_bitmap_v1", "fileindex_file"][table];
        let (_, bytes) = fixture::files(fixture::java21(), table, |f| f.ends_with(".index")).next().unwrap();
        let mut bytes = bytes.to_vec();
        let at = at.index(bytes.len());
        bytes[at] ^= flip;
        let fields = fixture::schema(fixture::java21(), table).fields;
        let n = n.unwrap_or(7) as i32;
        for field in &fields {
            let literal = match field.data_type.kind {
                Kind::Int => Datum::Int(n),
                Kind::Timestamp(_) => Datum::Timestamp { millis: 1_704_067_200_000 + i64::from(n), nanos: 0 },
                _ => Datum::String(format!("s{n}")),
            };
            let predicate = Predicate::Compare { field_id: field.id, op: CompareOp::GtEq, literal: literal.clone() };
            let _ = evaluate(&bytes.clone().into(), &fields, &predicate);
            let predicate = Predicate::In { field_id: field.id, literals: vec![literal], negated: false };
            let _ = evaluate(&bytes.clone().into(), &fields, &predicate);
        }
    }
}

#[test]
fn options_say_what_to_build() {
    let mut options = Options::default();
    options.set("file-index.bloom-filter.columns", "a, b");
    options.set("file-index.bloom-filter.a.items", "200");
    options.set("file-index.bitmap.columns", "c");
    options.set("file-index.bitmap.c.version", "1");
    let specs = IndexSpec::from_options(&options).unwrap();
    let of = |column: &str| specs.iter().find(|s| s.column == column).unwrap().kind;
    assert_eq!(of("a"), IndexKind::BloomFilter { items: 200, fpp: 0.1 });
    assert_eq!(of("b"), IndexKind::BloomFilter { items: 1_000_000, fpp: 0.1 });
    assert_eq!(of("c"), IndexKind::Bitmap { version: 1, block_size: 16 << 10 });
    options.set("file-index.bsi.columns", "d,d");
    options.set("file-index.range-bitmap.columns", "e,m[k],m[l.m]");
    options.set("file-index.range-bitmap.e.chunk-size", "1 kb");
    options.set("file-index.range-bitmap.m.chunk-size", "2 kb");
    options.set("file-index.range-bitmap.m[k].chunk-size", "0b");
    IndexSpec::check_options(&options).unwrap();
    let specs = IndexSpec::from_options(&options).unwrap();
    let of = |column: &str| specs.iter().filter(|s| s.column == column).map(|s| s.kind).collect::<Vec<_>>();
    assert_eq!(of("d"), [IndexKind::Bsi]);
    assert_eq!(of("e"), [IndexKind::RangeBitmap { chunk_size: Some(1024) }]);
    assert_eq!(of("m[k]"), [IndexKind::RangeBitmap { chunk_size: Some(0) }]);
    assert_eq!(of("m[l.m]"), [IndexKind::RangeBitmap { chunk_size: Some(2048) }]);
    options.set("file-index.range-bitmap.e.chunk-size", "2 gb");
    assert!(IndexSpec::from_options(&options).unwrap_err().to_string().contains("column: e"));
    options.set("file-index.bsi.a.items", "7");
    assert!(IndexSpec::check_options(&options).unwrap_err().to_string().contains("file-index.bsi.a.items"));
    options.set("file-index.guess.columns", "f");
    assert!(IndexSpec::from_options(&options).unwrap_err().to_string().contains("guess"));
}

#[test]
fn keys_of_maps_have_every_index() {
    let map = DataField::new(3, "m", DataType::parse("MAP<STRING, INT>").unwrap());
    // No map, no key and no value are nulls.
    let mut builder = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
    for row in 0..50 {
        let entries = match row % 5 {
            2 => vec![("b", Some(row)), ("a", Some(row))],
            3 => vec![("a", None)],
            4 => vec![("a", Some(-row)), ("c", Some(7))],
            _ => vec![],
        };
        for (key, value) in entries {
            builder.keys().append_value(key);
            builder.values().append_option(value);
        }
        builder.append(row % 5 != 0).unwrap();
    }
    let fields = [DataField::new(9, "x", DataType::parse("INT").unwrap()), map];
    let maps = arrow_cast::cast(&builder.finish(), arrow_schema(&fields).unwrap().field(1).data_type()).unwrap();
    let whole = batch(&fields, vec![Arc::new(Int32Array::from_iter_values(0..50)), maps]);
    let values: Int32Array = (0..50)
        .map(|row| match row % 5 {
            2 => Some(row),
            4 => Some(-row),
            _ => None,
        })
        .collect();
    let asked_fields = [DataField::new(5, "m[a]", DataType::parse("INT").unwrap())];
    let asked_batch = batch(&asked_fields, vec![Arc::new(values)]);
    for kind in [
        IndexKind::BloomFilter { items: 100, fpp: 0.01 },
        IndexKind::Bitmap { version: 2, block_size: 64 },
        IndexKind::Bsi,
        IndexKind::RangeBitmap { chunk_size: None },
    ] {
        let specs = ["m[a]", "m[b]", "m[nowhere]"].map(|column| IndexSpec { column: column.into(), kind });
        let mut writer = IndexWriter::new(&fields, &specs).unwrap();
        writer.update(&whole.slice(0, 20)).unwrap();
        writer.update(&whole.slice(20, 30)).unwrap();
        let bytes = writer.finish().unwrap().unwrap();
        for n in [-49, -4, 2, 3, 47] {
            for op in [CompareOp::Eq, CompareOp::LtEq] {
                let asked = Predicate::Compare { field_id: 5, op, literal: Datum::Int(n) };
                let kept = check(&bytes, &asked_batch, &asked_fields, &asked).len();
                let truth = asked.mask(&asked_batch, &asked_fields).unwrap().count_set_bits() as u64;
                let exact = matches!(kind, IndexKind::Bsi | IndexKind::RangeBitmap { .. });
                assert!(kept == truth || !exact, "{kind:?} {asked:?}: {kept} instead of {truth}");
            }
        }
        let absent = Predicate::Compare { field_id: 5, op: CompareOp::Eq, literal: Datum::Int(1_000_003) };
        assert_eq!(check(&bytes, &asked_batch, &asked_fields, &absent).len(), 0, "{kind:?}");
    }
    let refused = |fields: &[DataField]| {
        let specs = [IndexSpec { column: "m[a]".into(), kind: IndexKind::Bsi }];
        IndexWriter::new(fields, &specs).err().unwrap().to_string()
    };
    assert!(refused(&[DataField::new(3, "m", DataType::parse("MAP<INT, INT>").unwrap())]).contains("column: m[a]"));
    assert!(refused(&[DataField::new(3, "m", DataType::parse("INT").unwrap())]).contains("INT"));
    assert!(refused(&[DataField::new(3, "m", DataType::parse("MAP<STRING, STRING>").unwrap())]).contains("bsi"));
}

#[test]
fn an_index_without_values_is_of_nulls() {
    let part = crate::index::IndexPart { column: "big".into(), index_type: "bitmap".into(), body: None };
    let index = IndexFile { parts: vec![part] }.to_bytes().unwrap();
    let batch = batch(&fields(), columns(&[None, None]));
    let ask = |predicate: &Predicate| check(&index, &batch, &fields(), predicate).len();
    assert_eq!(ask(&Predicate::IsNull { field_id: 1, negated: false }), 2);
    assert_eq!(ask(&Predicate::Compare { field_id: 1, op: CompareOp::NotEq, literal: Datum::BigInt(1) }), 0);
}
