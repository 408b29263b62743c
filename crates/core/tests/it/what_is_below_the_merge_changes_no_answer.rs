//! Projections and predicates go below a merge only where they cannot change it (cases: M4, M6, M15).

use linn_format::datum::Datum;
use linn_format::predicate::{CompareOp, Predicate};

use crate::case::Case;

fn equals(case: &Case, column: &str, value: i32) -> Predicate {
    Predicate::Compare { field_id: case.field(column).id, op: CompareOp::Eq, literal: Datum::Int(value) }
}

#[tokio::test(flavor = "multi_thread")]
async fn regress_a_projection_brings_no_removed_row_back() {
    let options = [
        ("merge-engine", "partial-update"),
        ("fields.sa.sequence-group", "a"),
        ("fields.sb.sequence-group", "b"),
        ("partial-update.remove-record-on-sequence-group", "sb"),
        ("write-only", "true"),
    ];
    let mut case = Case::new("id INT, a INT, sa INT, b INT, sb INT", "id", &options).await;
    case.commit(&["+I(1,10,1,NULL,NULL)"]).await;
    case.commit(&["+I(1,NULL,NULL,100,1)"]).await;
    assert_eq!(case.select(&["id", "a"], None).await, ["1,10"]);
    case.commit(&["-D(1,NULL,NULL,100,2)"]).await;
    assert!(case.rows().await.is_empty());
    assert!(case.select(&["id", "a"], None).await.is_empty());
    assert!(case.select(&["a"], None).await.is_empty());
    case.compact(true).await;
    assert!(case.select(&["id", "a"], None).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn regress_a_delete_by_sequence_group_takes_effect() {
    let options = [
        ("merge-engine", "partial-update"),
        ("fields.g.sequence-group", "v"),
        ("partial-update.remove-record-on-sequence-group", "g"),
    ];
    let mut case = Case::new("id INT, g INT, v INT", "id", &options).await;
    case.commit(&["+I(1,1,10)", "+I(2,2,20)"]).await;
    // What DELETE WHERE id = 1 writes: the row as it is, so with an equal sequence.
    case.commit(&["-D(1,1,10)"]).await;
    assert_eq!(case.rows().await, ["2,2,20"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn regress_a_filter_on_values_sees_merged_rows() {
    let options = [("merge-engine", "aggregation"), ("fields.v.aggregate-function", "sum"), ("write-only", "true")];
    let mut case = Case::new("k INT, v INT, d STRING", "k,d / d", &options).await;
    case.commit(&["+I(1,1,d1)", "+I(2,1,d1)"]).await;
    case.commit(&["+I(1,2,d1)"]).await;
    let all = ["k", "v", "d"];
    for _ in 0..2 {
        assert_eq!(case.select(&all, Some(equals(&case, "v", 3))).await, ["1,3,d1"]);
        assert_eq!(case.select(&all, Some(equals(&case, "v", 1))).await, ["2,1,d1"]);
        assert_eq!(case.select(&["v"], Some(equals(&case, "k", 1))).await, ["3"]);
        case.compact(true).await;
    }
}
