//! Functions over nested values.

use std::sync::Arc;

use arrow_array::builder::{Int32Builder, ListBuilder, MapBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, Int32Array, ListArray, StringArray, StructArray};
use arrow_buffer::OffsetBuffer;
use linn_format::types::{DataField, DataType, Kind, arrow_type};

use super::fold_one;
use crate::merge::function::{Fold, FunctionOptions, FunctionPlan};
use crate::merge::source::Pick;

fn plan(sql: &str, function: &str, options: FunctionOptions) -> FunctionPlan {
    let field = DataField::new(0, "f", DataType::parse(sql).unwrap());
    FunctionPlan { column: 0, field, function: function.to_owned(), options }
}

fn pick(row: u32) -> Pick {
    Pick { source: 0, row }
}

/// Folds all rows of a column in order, retracting those in `retracted`.
fn fold(plan: &FunctionPlan, column: &ArrayRef, retracted: &[u32]) -> Option<ArrayRef> {
    let mut function = plan.build().unwrap();
    function.add_source(column).unwrap();
    let step = |row| if retracted.contains(&row) { Fold::Retract(pick(row)) } else { Fold::Add(pick(row)) };
    let folds: Vec<Fold> = (0..column.len() as u32).map(step).collect();
    fold_one(&mut *function, column, &folds).unwrap()
}

fn ints(rows: &[Option<&[i32]>]) -> ArrayRef {
    let DataType { kind: Kind::Array(_), .. } = DataType::parse("ARRAY<INT>").unwrap() else { unreachable!() };
    let arrow_schema::DataType::List(field) = arrow_type(&DataType::parse("ARRAY<INT>").unwrap()).unwrap() else {
        unreachable!()
    };
    let mut builder = ListBuilder::new(Int32Builder::new()).with_field(field);
    for row in rows {
        match row {
            Some(values) => {
                values.iter().for_each(|v| builder.values().append_value(*v));
                builder.append(true);
            }
            None => builder.append(false),
        }
    }
    Arc::new(builder.finish())
}

fn elements(list: Option<ArrayRef>) -> Option<Vec<i32>> {
    list.map(|l| l.as_list::<i32>().value(0).as_primitive::<Int32Type>().values().to_vec())
}

#[test]
fn collect_concatenates_and_takes_back_one_by_one() {
    let all = FunctionOptions::default();
    let column = ints(&[Some(&[1, 2]), None, Some(&[2, 3]), Some(&[2])]);
    assert_eq!(elements(fold(&plan("ARRAY<INT>", "collect", all.clone()), &column, &[])), Some(vec![1, 2, 2, 3, 2]));
    assert_eq!(elements(fold(&plan("ARRAY<INT>", "collect", all), &column, &[3])), Some(vec![1, 2, 3]));
    let distinct = FunctionOptions { distinct: true, ..FunctionOptions::default() };
    assert_eq!(elements(fold(&plan("ARRAY<INT>", "collect", distinct), &column, &[])), Some(vec![1, 2, 3]));
    let nulls = ints(&[None, Some(&[5]), None]);
    assert_eq!(elements(fold(&plan("ARRAY<INT>", "collect", FunctionOptions::default()), &nulls, &[2])), Some(vec![5]));
}

#[test]
fn merge_map_puts_and_removes_keys() {
    let data_type = arrow_type(&DataType::parse("MAP<INT, STRING>").unwrap()).unwrap();
    let arrow_schema::DataType::Map(entry, _) = &data_type else { unreachable!() };
    let arrow_schema::DataType::Struct(fields) = entry.data_type() else { unreachable!() };
    let mut builder = MapBuilder::new(None, Int32Builder::new(), StringBuilder::new())
        .with_keys_field(fields[0].clone())
        .with_values_field(fields[1].clone());
    for row in [&[(1, "a"), (2, "b")][..], &[(2, "c"), (3, "d")], &[(1, "x")]] {
        for (k, v) in row {
            builder.keys().append_value(*k);
            builder.values().append_value(v);
        }
        builder.append(true).unwrap();
    }
    let column =
        arrow_array::make_array(builder.finish().into_data().into_builder().data_type(data_type).build().unwrap());
    let entries = |map: Option<ArrayRef>| {
        let map = map.unwrap();
        let entries = map.as_map().value(0);
        let keys = entries.column(0).as_primitive::<Int32Type>().values().to_vec();
        keys.into_iter()
            .zip(entries.column(1).as_string::<i32>().iter().map(|v| v.unwrap().to_owned()))
            .collect::<Vec<_>>()
    };
    let plan = plan("MAP<INT, STRING>", "merge_map", FunctionOptions::default());
    let owned = |pairs: &[(i32, &str)]| pairs.iter().map(|(k, v)| (*k, (*v).to_owned())).collect::<Vec<_>>();
    assert_eq!(entries(fold(&plan, &column, &[])), owned(&[(1, "x"), (2, "c"), (3, "d")]));
    assert_eq!(entries(fold(&plan, &column, &[2])), owned(&[(2, "c"), (3, "d")]));
}

const NESTED: &str = "ARRAY<ROW<id INT, a STRING>>";

/// Rows of `(id, a)` lists.
fn nested(rows: &[&[(Option<i32>, Option<&str>)]]) -> ArrayRef {
    let data_type = arrow_type(&DataType::parse(NESTED).unwrap()).unwrap();
    let arrow_schema::DataType::List(element) = &data_type else { unreachable!() };
    let arrow_schema::DataType::Struct(fields) = element.data_type() else { unreachable!() };
    let all: Vec<_> = rows.concat();
    let id: ArrayRef = Arc::new(Int32Array::from_iter(all.iter().map(|r| r.0)));
    let a: ArrayRef = Arc::new(StringArray::from_iter(all.iter().map(|r| r.1)));
    let child = StructArray::try_new(fields.clone(), vec![id, a], None).unwrap();
    let offsets = OffsetBuffer::from_lengths(rows.iter().map(|r| r.len()));
    Arc::new(ListArray::try_new(element.clone(), offsets, Arc::new(child), None).unwrap())
}

fn pairs(list: Option<ArrayRef>) -> Vec<(Option<i32>, Option<String>)> {
    let list = list.unwrap();
    let rows = list.as_list::<i32>().value(0);
    let rows = rows.as_struct();
    let ids = rows.column(0).as_primitive::<Int32Type>().iter().collect::<Vec<_>>();
    ids.into_iter().zip(rows.column(1).as_string::<i32>().iter().map(|v| v.map(str::to_owned))).collect()
}

fn owned(rows: &[(Option<i32>, Option<&str>)]) -> Vec<(Option<i32>, Option<String>)> {
    rows.iter().map(|(id, a)| (*id, a.map(str::to_owned))).collect()
}

#[test]
fn nested_update_upserts_by_key_up_to_a_limit() {
    let column = nested(&[&[(Some(1), Some("x")), (Some(2), Some("y"))], &[(Some(2), Some("z")), (Some(3), None)]]);
    let keyed = FunctionOptions { nested_key: vec!["id".to_owned()], ..FunctionOptions::default() };
    let limited = FunctionOptions { count_limit: Some(2), ..keyed.clone() };
    let run = |options: FunctionOptions, retracted: &[u32]| {
        pairs(fold(&plan(NESTED, "nested_update", options), &column, retracted))
    };
    assert_eq!(run(keyed.clone(), &[]), owned(&[(Some(1), Some("x")), (Some(2), Some("z")), (Some(3), None)]));
    assert_eq!(run(limited, &[]), owned(&[(Some(1), Some("x")), (Some(2), Some("z"))]));
    assert_eq!(run(keyed, &[1]), owned(&[(Some(1), Some("x"))]));
    let unkeyed = FunctionOptions { count_limit: Some(3), ..FunctionOptions::default() };
    assert_eq!(run(unkeyed, &[]), owned(&[(Some(1), Some("x")), (Some(2), Some("y")), (Some(2), Some("z"))]));
}

#[test]
fn nested_partial_update_overwrites_non_null_fields() {
    let column = nested(&[&[(Some(1), Some("x")), (Some(2), None)], &[(Some(1), None), (Some(2), Some("y"))]]);
    let options = FunctionOptions { nested_key: vec!["id".to_owned()], ..FunctionOptions::default() };
    let merged = pairs(fold(&plan(NESTED, "nested_partial_update", options), &column, &[]));
    assert_eq!(merged, owned(&[(Some(1), Some("x")), (Some(2), Some("y"))]));
}
