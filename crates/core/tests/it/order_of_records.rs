//! Which record of a key counts as the later one (cases: M7, M9, S2, S4, S7, S8, S10).

use crate::case::Case;

async fn check(columns: &str, options: &[(&str, &str)], commits: &[&[&str]], expected: &[&str]) {
    let mut case = Case::new(columns, "k", options).await;
    for rows in commits {
        case.commit(rows).await;
    }
    assert_eq!(case.rows().await, expected, "{options:?} {commits:?}");
    case.compact(true).await;
    assert_eq!(case.rows().await, expected, "compacted, {options:?} {commits:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn regress_the_ordering_column_is_not_aggregated() {
    let rows: &[&[&str]] = &[&["+I(0,1,1)", "+I(0,2,2)"]];
    let sum = ("fields.default-aggregate-function", "sum");
    let columns = "k INT, s INT, v INT";
    check(columns, &[("merge-engine", "aggregation"), ("sequence.field", "s"), sum], rows, &["0,2,3"]).await;
    check(columns, &[("merge-engine", "partial-update"), ("fields.s.sequence-group", "v"), sum], rows, &["0,2,3"])
        .await;
    // Late rows aggregate too; the sequence only moves forward.
    let late: &[&[&str]] = &[&["+I(0,2,2)"], &["+I(0,1,1)"]];
    check(columns, &[("merge-engine", "partial-update"), ("fields.s.sequence-group", "v"), sum], late, &["0,2,3"])
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn regress_ties_and_nulls_of_a_sequence_group() {
    let options = [("merge-engine", "partial-update"), ("fields.s.sequence-group", "v")];
    let check = |rows: &'static [&'static [&'static str]], expected: &'static [&'static str]| {
        check("k INT, v INT, s INT", &options, rows, expected)
    };
    check(&[&["+I(1,100,1)"], &["+I(1,NULL,1)"]], &["1,NULL,1"]).await;
    check(&[&["+I(1,100,1)"], &["+I(1,200,NULL)"]], &["1,100,1"]).await;
    check(&[&["+I(1,100,5)"], &["-D(1,1,3)"]], &["1,100,5"]).await;
    check(&[&["+I(1,100,5)"], &["-D(1,1,7)"]], &["1,NULL,7"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn regress_two_tables_of_one_shape_with_opposite_orders() {
    let rows: &[&[&str]] = &[&["+I(1,1,a)"], &["+I(1,2,b)"]];
    let columns = "k INT, s INT, v STRING";
    let descending = [("sequence.field", "s"), ("sequence.field.sort-order", "descending")];
    for _ in 0..2 {
        check(columns, &[("sequence.field", "s")], rows, &["1,2,b"]).await;
        check(columns, &descending, rows, &["1,1,a"]).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn regress_a_late_row_does_not_win_over_a_compacted_one() {
    let mut case = Case::new("k INT, v INT", "k", &[("sequence.field", "v"), ("write-only", "true")]).await;
    case.commit(&["+I(1,3)"]).await;
    case.compact(true).await;
    case.commit(&["+I(1,2)"]).await;
    assert_eq!(case.rows().await, ["1,3"]);
    case.compact(true).await;
    assert_eq!(case.rows().await, ["1,3"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn regress_late_rows_are_summed_once_wherever_they_lie() {
    let options = [
        ("merge-engine", "aggregation"),
        ("sequence.field", "seq"),
        ("fields.v.aggregate-function", "sum"),
        ("num-sorted-run.compaction-trigger", "2"),
    ];
    let commits: &[&[&str]] = &[&["+I(1,7,7)"], &["+I(1,8,8)"], &["+I(1,6,6)"]];
    check("k INT, seq INT, v INT", &options, commits, &["1,8,21"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn regress_of_equal_sequences_the_last_arrived_wins() {
    let options = [("sequence.field", "ts")];
    check("k INT, ts INT, v STRING", &options, &[&["+I(1,5,a)", "+I(1,5,b)"]], &["1,5,b"]).await;
    check("k INT, ts INT, v STRING", &options, &[&["+I(1,5,a)"], &["+I(1,5,b)"]], &["1,5,b"]).await;
}

/// The delete counts until its time has passed and a full compaction has dropped it.
#[tokio::test(flavor = "multi_thread")]
async fn an_insert_with_a_smaller_sequence_than_the_delete_stays_invisible() {
    for (retention, expected) in [("1 d", &[][..]), ("0 s", &["1,50"][..])] {
        let options = [("sequence.field", "ts"), ("write-only", "true"), ("linn.delete.retention-time", retention)];
        let mut case = Case::new("k INT, ts INT", "k", &options).await;
        case.commit(&["+I(1,100)"]).await;
        case.commit(&["-D(1,100)"]).await;
        case.commit(&["+I(1,50)"]).await;
        assert!(case.rows().await.is_empty());
        case.compact(true).await;
        assert!(case.rows().await.is_empty());
        case.commit(&["+I(1,50)"]).await;
        assert_eq!(case.rows().await, expected, "{retention}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn regress_names_in_options_are_trimmed() {
    let case = Case::new("k INT, f1 INT, f2 INT, f3 INT", "k", &[("sequence.field", " f1 ,f2 ,  f3 ")]).await;
    assert_eq!(case.table.options().sequence_fields(), ["f1", "f2", "f3"]);
    check("k INT, f1 INT, f2 INT", &[("sequence.field", " f1 ,f2 ")], &[&["+I(1,1,2)"], &["+I(1,1,1)"]], &["1,1,2"])
        .await;
}
