//! Counts, minima and maxima come from metadata exactly where that is right.

use crate::{ORDERS, rows, run, session};

const AGGREGATES: &str = "SELECT count(*), min(id), max(amount) FROM orders";

async fn reads_files(session: &linn_sql::Session) -> bool {
    rows(session, &format!("EXPLAIN {AGGREGATES}")).await.iter().any(|line| line.contains("LinnScan"))
}

#[tokio::test(flavor = "multi_thread")]
async fn only_without_rows_to_merge() {
    let s = session();
    run(&s, ORDERS).await;
    assert!(!reads_files(&s).await);
    assert_eq!(rows(&s, AGGREGATES).await, ["3|1|30.00"]);
    run(&s, "INSERT INTO orders VALUES (1, 'd1', 500, 'a')").await;
    assert!(reads_files(&s).await);
    assert_eq!(rows(&s, AGGREGATES).await, ["3|1|500.00"]);
    run(&s, "DELETE FROM orders WHERE id = 1; CALL sys.compact(`table` => 'default.orders')").await;
    assert!(!reads_files(&s).await);
    assert_eq!(rows(&s, AGGREGATES).await, ["2|2|30.00"]);
}
