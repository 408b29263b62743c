//! Merging is associative: the same rows give the same answer whether a compaction ran between them or not (cases: M1, M13).

use crate::case::Case;

/// The rows after some commits, without compaction, and with a full one after every commit.
async fn check(columns: &str, options: &[(&str, &str)], commits: &[&[&str]], expected: &[&str]) {
    for compacts in [false, true] {
        let mut case = Case::new(columns, "k", &[options, &[("write-only", "true")]].concat()).await;
        for rows in commits {
            case.commit(rows).await;
            if compacts {
                case.compact(true).await;
            }
        }
        assert_eq!(case.rows().await, expected, "compacted between: {compacts}, {commits:?}");
        case.compact(true).await;
        assert_eq!(case.rows().await, expected, "compacted at last, between: {compacts}, {commits:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn regress_a_removed_record_starts_anew() {
    let options = [
        ("merge-engine", "aggregation"),
        ("fields.v.aggregate-function", "sum"),
        ("aggregation.remove-record-on-delete", "true"),
    ];
    check("k INT, v INT", &options, &[&["+I(1,10)"], &["-D(1,10)"], &["+I(1,5)"]], &["1,5"]).await;
    check("k INT, v INT", &options, &[&["-D(1,10)"], &["+I(1,4)"]], &["1,4"]).await;
    check("k INT, v INT", &options, &[&["+I(1,10)", "-D(1,10)", "+I(1,5)"]], &["1,5"]).await;
    check("k INT, v INT", &options, &[&["+I(1,10)"], &["-D(1,10)"]], &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn regress_a_sum_goes_on_from_a_lone_retraction() {
    let options = [("merge-engine", "aggregation"), ("fields.v.aggregate-function", "sum")];
    check("k INT, v INT", &options, &[&["-U(1,10)"]], &[]).await;
    check("k INT, v INT", &options, &[&["-U(1,10)"], &["+U(1,4)"]], &["1,-6"]).await;
    check("k INT, v INT", &options, &[&["-U(1,10)", "+U(1,4)"]], &["1,-6"]).await;
    check("k INT, v INT", &options, &[&["+I(1,10)"], &["-U(1,10)"], &["+U(1,4)"]], &["1,4"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn partial_rows_fill_up_in_any_order_of_compactions() {
    let options = [("merge-engine", "partial-update"), ("partial-update.remove-record-on-delete", "true")];
    let commits: &[&[&str]] =
        &[&["+I(1,1,NULL)"], &["-D(1,1,2)"], &["+I(1,NULL,3)"], &["+I(2,5,NULL)"], &["+I(2,NULL,6)"]];
    check("k INT, a INT, b INT", &options, commits, &["1,NULL,3", "2,5,6"]).await;
}
