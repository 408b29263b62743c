//! Order among records of one key, and what a projection reads.

use std::sync::Arc;

use linn_format::ErrorKind;

use super::{Row, int, merge_rows, table, text};
use crate::merge::MergeSpec;

fn row(key: i64, value: &str, sequence: i64) -> Row {
    Row { values: vec![int(key), text(value)], sequence, kind: 0 }
}

fn spec(options: &[(&str, &str)]) -> Arc<MergeSpec> {
    let schema = table(&[("k", "INT NOT NULL"), ("v", "STRING")], options);
    Arc::new(MergeSpec::of(&schema, &schema.fields).unwrap())
}

#[test]
fn equal_sequence_numbers_fall_to_the_newer_run() {
    let runs = [vec![row(1, "new", 7)], vec![row(1, "middle", 7)], vec![row(1, "old", 7)]];
    assert_eq!(merge_rows(&spec(&[]), &runs, false, 4).unwrap(), vec![row(1, "new", 7)]);
    let runs = [vec![row(1, "new", 7)], vec![row(1, "old", 8)]];
    assert_eq!(merge_rows(&spec(&[]), &runs, false, 4).unwrap(), vec![row(1, "old", 8)]);
}

#[test]
fn ties_on_the_sequence_field_fall_to_the_later_write() {
    let runs = [vec![row(1, "a", 2)], vec![row(1, "a", 1)]];
    assert_eq!(merge_rows(&spec(&[("sequence.field", "v")]), &runs, false, 4).unwrap(), vec![row(1, "a", 2)]);
    let runs = [vec![row(1, "a", 2)], vec![row(1, "b", 1)]];
    assert_eq!(merge_rows(&spec(&[("sequence.field", "v")]), &runs, false, 4).unwrap(), vec![row(1, "b", 1)]);
}

#[test]
fn a_run_out_of_order_is_corrupt() {
    let runs = [vec![row(2, "a", 1), row(1, "b", 2)]];
    for cut in [1, 2] {
        assert_eq!(merge_rows(&spec(&[]), &runs, false, cut).unwrap_err().kind(), ErrorKind::Corrupt);
    }
}

#[test]
fn no_runs_no_rows() {
    assert_eq!(merge_rows(&spec(&[]), &[], false, 4).unwrap(), vec![]);
    assert_eq!(merge_rows(&spec(&[]), &[vec![], vec![]], false, 4).unwrap(), vec![]);
}

#[test]
fn a_projection_reads_what_decides_the_row() {
    let schema = table(&[("k", "INT NOT NULL"), ("v", "STRING"), ("s", "INT")], &[("sequence.field", "s")]);
    let spec = MergeSpec::of(&schema, &schema.fields[1..2]).unwrap();
    let names: Vec<_> = spec.read_fields().iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["v", "k", "s"]);
    assert_eq!(spec.output_schema().fields().len(), 3);
    assert_eq!(spec.output_schema().field(0).name(), "v");
}
