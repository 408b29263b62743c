//! INSERT, UPDATE, DELETE, MERGE, INSERT OVERWRITE on a primary-key table, before and after compaction.

use linn::ErrorKind;

use crate::{ORDERS, fails, rows, run, session};

const ALL: &str = "SELECT id, dt, amount, note FROM orders ORDER BY id";

#[tokio::test(flavor = "multi_thread")]
async fn updates_and_deletes_take_effect() {
    let s = session();
    run(&s, ORDERS).await;
    run(&s, "INSERT INTO orders (id, dt, amount) VALUES (4, 'd2', 1.25)").await;
    run(&s, "UPDATE orders SET amount = amount * 2, note = 'x' WHERE id = 2; DELETE FROM orders WHERE id = 3").await;
    let expected = ["1|d1|10.50|a", "2|d1|40.00|x", "4|d2|1.25|"];
    assert_eq!(rows(&s, ALL).await, expected);
    run(&s, "CALL sys.compact(`table` => 'default.orders')").await;
    assert_eq!(rows(&s, ALL).await, expected);
    assert_eq!(rows(&s, "SELECT DISTINCT level FROM orders$files").await, ["5"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delete_leaves_rows_whose_condition_is_unknown() {
    let s = session();
    run(&s, ORDERS).await;
    run(&s, "INSERT INTO orders VALUES (9, 'd1', 1, NULL); DELETE FROM orders WHERE note = 'a'").await;
    assert_eq!(rows(&s, "SELECT id FROM orders ORDER BY id").await, ["2", "3", "9"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn merge_gives_every_row_its_action() {
    let s = session();
    run(&s, ORDERS).await;
    run(&s, "CREATE TABLE src (id BIGINT, dt STRING, amount DECIMAL(10, 2))").await;
    run(&s, "INSERT INTO src VALUES (1, 'd1', 99), (7, 'd1', 7), (3, 'd2', 0)").await;
    let merge = "MERGE INTO orders AS t USING src AS s ON t.id = s.id AND t.dt = s.dt \
         WHEN MATCHED AND s.amount = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET amount = s.amount \
         WHEN NOT MATCHED THEN INSERT (id, dt, amount) VALUES (s.id, s.dt, s.amount)";
    run(&s, merge).await;
    assert_eq!(rows(&s, ALL).await, ["1|d1|99.00|a", "2|d1|20.00|b", "7|d1|7.00|"]);
    run(&s, "INSERT INTO src VALUES (1, 'd1', 5)").await;
    assert_eq!(fails(&s, merge).await.kind(), ErrorKind::Invalid);
}

#[tokio::test(flavor = "multi_thread")]
async fn overwrite_replaces_the_partitions_of_the_rows() {
    let s = session();
    run(&s, ORDERS).await;
    run(&s, "INSERT OVERWRITE orders SELECT 8, 'd2', 8, 'n'").await;
    assert_eq!(rows(&s, "SELECT id FROM orders ORDER BY id").await, ["1", "2", "8"]);
    run(&s, "INSERT OVERWRITE orders PARTITION (dt = 'd1') (id, amount, note) SELECT 100, 1, 'o'").await;
    assert_eq!(rows(&s, "SELECT id FROM orders ORDER BY id").await, ["8", "100"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_take_no_null_and_cannot_be_assigned() {
    let s = session();
    run(&s, ORDERS).await;
    let error = fails(&s, "INSERT INTO orders VALUES (NULL, 'd1', 1, 'a')").await;
    assert!(error.to_string().contains("id"), "{error}");
    assert_eq!(fails(&s, "UPDATE orders SET id = 3").await.kind(), ErrorKind::Invalid);
    assert_eq!(fails(&s, "INSERT INTO orders (nope) VALUES (1)").await.kind(), ErrorKind::Invalid);
    assert_eq!(rows(&s, "SELECT count(*) FROM orders").await, ["3"]);
}
