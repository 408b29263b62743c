//! Rows that the table cannot take are named, nothing of them stays, and the writer goes on (cases: M10, M13, M16).

use linn_format::{Error, ErrorKind};

use crate::case::Case;

/// Writes rows that must be refused when they arrive, then good ones with the same writer.
async fn refused_at_write(
    columns: &str,
    options: &[(&str, &str)],
    bad: &[&str],
    good: &[&str],
    expected: &[&str],
) -> Error {
    let mut case = Case::new(columns, "k", options).await;
    let mut writer = case.table.writer("w").unwrap();
    let error = case.write(&mut writer, bad).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    case.write(&mut writer, good).await.unwrap();
    assert_eq!(case.rows().await, expected);
    error
}

#[tokio::test(flavor = "multi_thread")]
async fn a_retraction_that_the_engine_cannot_take_is_named() {
    for (options, hint) in [
        (&[("merge-engine", "first-row")][..], "ignore-delete"),
        (&[("merge-engine", "partial-update")][..], "partial-update.remove-record-on-delete"),
        (&[("merge-engine", "aggregation"), ("fields.v.aggregate-function", "max")][..], "fields.v.ignore-retract"),
    ] {
        let bad = ["+I(1,1)", "+I(7,2)", "-D(7,1)"];
        let error = refused_at_write("k INT, v INT", options, &bad, &["+I(2,2)"], &["2,2"]).await;
        assert!(error.to_string().contains("row: 2 (-D)"), "{error}");
        assert!(error.hint().is_some_and(|h| h.contains(hint)), "{error:?}");
    }
}

/// A group whose sequence is null takes nothing back, and one that removes the row on a newer delete need not.
#[tokio::test(flavor = "multi_thread")]
async fn regress_a_retraction_that_a_function_of_a_sequence_group_cannot_take_is_named() {
    let grouped =
        [("merge-engine", "partial-update"), ("fields.s.sequence-group", "v"), ("fields.v.aggregate-function", "max")];
    let columns = "k INT, s INT, v INT";
    let bad = ["+I(1,1,1)", "-D(2,NULL,3)", "-U(7,2,1)"];
    let error = refused_at_write(columns, &grouped, &bad, &["+I(2,2,2)", "-D(2,NULL,2)"], &["2,2,2"]).await;
    assert!(error.to_string().contains("row: 2 (-U)"), "{error}");
    assert!(error.hint().is_some_and(|h| h.contains("fields.v.ignore-retract")), "{error:?}");
    let removing = [&grouped[..], &[("partial-update.remove-record-on-sequence-group", "s")]].concat();
    let good = ["+I(1,5,5)", "+I(2,5,5)", "-D(1,6,1)", "-D(2,4,9)"];
    refused_at_write(columns, &removing, &["-U(2,5,5)"], &good, &["2,5,5"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_null_in_a_not_null_column_is_named() {
    let bad = ["+I(1,1)", "+I(2,NULL)"];
    let error = refused_at_write("k INT, v INT NOT NULL", &[], &bad, &["+I(3,3)"], &["3,3"]).await;
    assert!(error.to_string().contains("row 1") && error.to_string().contains("column: v"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn regress_an_overflow_is_an_error_and_never_wraps() {
    for (rows, function) in [
        (["+I(1,2147483647)", "+I(1,1)"], "sum"),
        (["+I(1,-2147483648)", "-U(1,1)"], "sum"),
        (["-U(1,-2147483648)", "+I(1,0)"], "sum"),
        (["+I(1,2147483647)", "+I(1,2)"], "product"),
    ] {
        let options = [("merge-engine", "aggregation"), ("fields.v.aggregate-function", function)];
        let mut case = Case::new("k INT, v INT", "k", &options).await;
        let error = case.try_commit(&rows).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.to_string().contains("overflow") && error.to_string().contains('v'), "{error}");
        assert!(error.to_string().contains("key: 1"), "{error}");
        // Nothing was committed, and another writer goes on.
        case.commit(&["+I(1,5)"]).await;
        assert_eq!(case.rows().await, ["1,5"]);
    }
}

/// Rows that were good when they came, and overflow when they meet: reads and compactions say so, the files stay, and other
/// columns are read all the same.
#[tokio::test(flavor = "multi_thread")]
async fn an_overflow_of_a_read_or_a_compaction_is_an_error_of_its_column() {
    let options = [("merge-engine", "aggregation"), ("fields.v.aggregate-function", "sum"), ("write-only", "true")];
    let mut case = Case::new("k INT, v INT", "k", &options).await;
    case.commit(&["+I(1,2147483647)", "+I(2,7)"]).await;
    case.commit(&["+I(1,1)"]).await;
    let split = case.table.scan().plan().await.unwrap().splits.remove(0);
    let read = case.table.read().build().unwrap();
    let outcome = linn_core::read::collect(read.stream(&split).await.unwrap()).await;
    let error = outcome.unwrap_err();
    assert!(error.kind() == ErrorKind::Invalid && error.to_string().contains("overflow"), "{error}");
    let said = |error: &linn_format::Error| {
        let text = error.to_string();
        let parts = ["INT", "column: v", "key: 1", "table: db.t"];
        parts.iter().all(|part| text.contains(part)) && error.hint().is_some_and(|hint| hint.contains("wider"))
    };
    assert!(said(&error), "{error:?}");
    let levels = case.levels().await;
    let error = case.table.compact(None, true).await.unwrap_err();
    assert!(error.kind() == ErrorKind::Invalid && error.to_string().contains("overflow"), "{error}");
    assert!(said(&error), "{error:?}");
    assert_eq!(case.levels().await, levels);
    assert_eq!(case.select(&["k"], None).await, ["1", "2"]);
}

/// The row of an update that is half there has a null that its column does not take; its other half sets it right.
#[tokio::test(flavor = "multi_thread")]
async fn regress_a_null_that_a_retraction_leaves_in_a_not_null_column_is_named() {
    let options =
        [("merge-engine", "aggregation"), ("fields.v.aggregate-function", "last_value"), ("write-only", "true")];
    let mut case = Case::new("k INT, v INT NOT NULL", "k", &options).await;
    case.commit(&["+I(1,5)"]).await;
    case.commit(&["-U(1,5)"]).await;
    let error = case.table.compact(None, true).await.unwrap_err();
    assert!(error.kind() == ErrorKind::Invalid && error.to_string().contains("column: v"), "{error}");
    assert!(error.to_string().contains("key: 1"), "{error}");
    assert!(error.hint().is_some_and(|h| h.contains("fields.v.ignore-retract")), "{error:?}");
    case.commit(&["+U(1,6)"]).await;
    case.compact(true).await;
    assert_eq!(case.rows().await, ["1,6"]);
}
