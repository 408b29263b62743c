//! Compacted rows of all types come back, order as their values do, and hostile bytes are no panic.

use proptest::prelude::*;

use super::*;
use crate::row::tests::{any_column, any_scalar, nested_types};
use crate::row::{BinaryRow, columns_from_rows, rows_from_columns};
use crate::types::{DataType, Kind};

fn round_trip(rows: &[BinaryRow], types: &[DataType]) {
    let columns = columns_from_rows(rows, types).unwrap();
    let compact = compact_rows(&columns, types).unwrap();
    let back = columns_from_compact(compact.iter().flatten(), types).unwrap();
    assert_eq!(rows_from_columns(&back, types).unwrap(), rows_from_columns(&columns, types).unwrap());
}

proptest! {
    #[test]
    fn scalars_come_back(values in prop::collection::vec((any_scalar(), any::<bool>()), 1..20)) {
        let types: Vec<_> = values.iter().map(|((_, kind), _)| DataType::nullable(kind.clone())).collect();
        let row: Vec<_> = values.into_iter().map(|((value, _), null)| (!null).then_some(value)).zip(&types).collect();
        // Timestamps that Arrow cannot hold are no matter of rows.
        let rows = [BinaryRow::from_datums(&row).unwrap()];
        prop_assume!(columns_from_rows(&rows, &types).is_ok());
        round_trip(&rows, &types);
    }

    #[test]
    fn nested_values_come_back(seeds in prop::collection::vec(any::<u8>(), 1..9)) {
        for data_type in nested_types() {
            let types = [data_type];
            round_trip(&rows_from_columns(&[any_column(&types[0], &seeds)], &types).unwrap(), &types);
        }
    }

    #[test]
    fn keys_order_as_their_values(a in any_scalar(), b in any_scalar(), null: bool) {
        let data_type = DataType::nullable(a.1.clone());
        let compact = |value| {
            let rows = [BinaryRow::from_datums(&[(value, &data_type)]).unwrap()];
            let columns = columns_from_rows(&rows, std::slice::from_ref(&data_type)).ok()?;
            Some(compact_rows(&columns, std::slice::from_ref(&data_type)).unwrap().value(0).to_vec())
        };
        let order = CompactOrder::new(std::slice::from_ref(&data_type)).unwrap();
        let same = if a.1 == b.1 && !null { b.0 } else { a.0.clone() };
        let (Some(x), Some(y)) = (compact(Some(a.0.clone())), compact(Some(same.clone()))) else { return Ok(()) };
        prop_assert_eq!(order.compare(&x, &y).unwrap(), a.0.compare(&same).unwrap());
        let none = compact(None).unwrap();
        prop_assert!(order.compare(&none, &x).unwrap().is_lt());
    }

    #[test]
    fn hostile_bytes_never_panic(
        a in prop::collection::vec(prop_oneof![Just(0u8), 0u8..40, any::<u8>()], 0..60),
        b in prop::collection::vec(any::<u8>(), 0..60),
        (_, kind) in any_scalar(),
    ) {
        let types = [DataType::nullable(kind), DataType::string()];
        let _ = columns_from_compact([&a[..]], &types);
        let _ = CompactOrder::new(&types).unwrap().compare(&a, &b);
        for nested in nested_types() {
            let _ = columns_from_compact([&a[..]], &[nested]);
        }
    }
}

/// Bytes as the reference's serialiser lays them out.
#[test]
fn a_row_has_the_bytes_of_the_format() {
    use crate::datum::Datum;
    let decimal = Kind::Decimal { precision: 20, scale: 2 };
    let types: Vec<_> = [Kind::Int, Kind::Varchar(9), Kind::Timestamp(6), Kind::Timestamp(3), decimal, Kind::Boolean]
        .into_iter()
        .map(DataType::nullable)
        .collect();
    let values = [
        Some(Datum::Int(-2)),
        None,
        Some(Datum::Timestamp { millis: 1, nanos: 300_000 }),
        Some(Datum::Timestamp { millis: 2, nanos: 0 }),
        Some(Datum::Decimal { unscaled: -129, precision: 20, scale: 2 }),
        Some(Datum::Boolean(true)),
    ];
    let row = BinaryRow::from_datums(&values.into_iter().zip(&types).collect::<Vec<_>>()).unwrap();
    let columns = columns_from_rows(&[row], &types).unwrap();
    let mut expected = vec![0, 2, 0xfe, 0xff, 0xff, 0xff];
    expected.extend([1, 0, 0, 0, 0, 0, 0, 0, 0xe0, 0xa7, 0x12]);
    expected.extend([2, 0, 0, 0, 0, 0, 0, 0]);
    expected.extend([2, 0xff, 0x7f, 1]);
    assert_eq!(compact_rows(&columns, &types).unwrap().value(0), expected);
}
