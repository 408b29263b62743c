//! Snapshots by number, options on tables, and schemas as they were.

use linn::ErrorKind;

use crate::{ORDERS, fails, rows, run, session};

#[tokio::test(flavor = "multi_thread")]
async fn one_statement_reads_several_snapshots() {
    let s = session();
    run(&s, ORDERS).await;
    run(&s, "INSERT INTO orders VALUES (4, 'd1', 1, 'z')").await;
    let both = "SELECT (SELECT count(*) FROM orders), (SELECT count(*) FROM orders VERSION AS OF 1), \
         (SELECT count(*) FROM orders /*+ OPTIONS('scan.snapshot-id' = '1') */), \
         (SELECT count(*) FROM orders OPTIONS('scan.snapshot-id' = '2'))";
    assert_eq!(rows(&s, both).await, ["4|3|3|4"]);
    assert_eq!(fails(&s, "SELECT * FROM orders FOR VERSION AS OF 9").await.kind(), ErrorKind::NotFound);
    assert_eq!(rows(&s, "SELECT snapshot_id FROM orders$snapshots ORDER BY 1").await, ["1", "2"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn old_snapshots_have_their_schema() {
    let s = session();
    run(&s, ORDERS).await;
    run(&s, "ALTER TABLE orders ADD COLUMN extra INT; ALTER TABLE orders RENAME COLUMN note TO remark").await;
    run(&s, "INSERT INTO orders VALUES (5, 'd1', 1, 'r', 7)").await;
    assert_eq!(rows(&s, "SELECT remark, extra FROM orders ORDER BY id").await, ["a|", "b|", "c|", "r|7"]);
    assert_eq!(rows(&s, "SELECT note FROM orders FOR VERSION AS OF 1 ORDER BY id").await, ["a", "b", "c"]);
}
