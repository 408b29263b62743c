//! Field ids are never reused and the highest one only grows.

use std::collections::HashSet;

use proptest::prelude::*;

use super::*;
use crate::types::{Kind, highest_id};

#[derive(Debug, Clone)]
enum Step {
    Add(usize, bool),
    Drop(usize),
    Rename(usize, usize),
    Move(usize, usize),
    Widen(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0..9usize, any::<bool>()).prop_map(|(n, nested)| Step::Add(n, nested)),
        (0..9usize).prop_map(Step::Drop),
        (0..9usize, 0..9usize).prop_map(|(a, b)| Step::Rename(a, b)),
        (0..9usize, 0..9usize).prop_map(|(a, b)| Step::Move(a, b)),
        (0..9usize).prop_map(Step::Widen),
    ]
}

fn change(step: &Step) -> SchemaChange {
    let name = |n: usize| format!("c{n}");
    match step {
        Step::Add(n, nested) => SchemaChange::AddColumn {
            path: vec![name(*n)],
            data_type: DataType::parse(if *nested { "ROW<x INT, y ARRAY<ROW<z INT>>>" } else { "INT" }).unwrap(),
            description: None,
            position: None,
        },
        Step::Drop(n) => SchemaChange::DropColumn { path: vec![name(*n)] },
        Step::Rename(a, b) => SchemaChange::RenameColumn { path: vec![name(*a)], new_name: name(*b) },
        Step::Move(a, b) => SchemaChange::UpdateColumnPosition { name: name(*a), position: Position::After(name(*b)) },
        Step::Widen(n) => SchemaChange::UpdateColumnType {
            path: vec![name(*n)],
            new_type: DataType::nullable(Kind::BigInt),
            keep_nullability: true,
        },
    }
}

fn ids(fields: &[DataField], found: &mut Vec<i32>) {
    for field in fields {
        found.push(field.id);
        nested_ids(&field.data_type, found);
    }
}

fn nested_ids(t: &DataType, found: &mut Vec<i32>) {
    match &t.kind {
        Kind::Row(fields) => ids(fields, found),
        Kind::Array(element) => nested_ids(element, found),
        _ => {}
    }
}

proptest! {
    #[test]
    fn ids_are_never_used_twice_and_the_highest_only_grows(steps in prop::collection::vec(step(), 1..40)) {
        let mut schema = keyed(&[("bucket", "1")]).unwrap();
        let mut gone: HashSet<i32> = HashSet::new();
        for step in &steps {
            let Ok(next) = apply(&schema, &[change(step)], true, 1) else { continue };
            let (mut before, mut after) = (Vec::new(), Vec::new());
            ids(&schema.fields, &mut before);
            ids(&next.fields, &mut after);
            let unique: HashSet<i32> = after.iter().copied().collect();
            prop_assert_eq!(unique.len(), after.len());
            gone.extend(before.iter().filter(|id| !unique.contains(id)));
            prop_assert!(gone.is_disjoint(&unique));
            prop_assert!(next.highest_field_id >= schema.highest_field_id);
            prop_assert!(highest_id(&next.fields) <= next.highest_field_id);
            prop_assert_eq!(next.id.0, schema.id.0 + 1);
            prop_assert_eq!(&TableSchema::from_json(&next.to_json()).unwrap(), &next);
            schema = next;
        }
    }
}
