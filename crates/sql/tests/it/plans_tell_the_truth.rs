//! EXPLAIN in every format, and what EXPLAIN ANALYZE says of scans.

use linn::ErrorKind;

use crate::{ORDERS, fails, rows, run, session, sessions};

/// The values of a metric in a plan, added up.
fn metric(plan: &str, name: &str) -> Option<u64> {
    let mut found = None;
    for part in plan.split(['[', ',', ']']) {
        if let Some(value) = part.trim().strip_prefix(&format!("{name}=")) {
            let (number, unit) = value.split_once(' ').unwrap_or((value, ""));
            let unit = if unit.starts_with('K') { 1_000.0 } else { 1.0 };
            let number: f64 = number.parse().unwrap();
            found = Some(found.unwrap_or(0) + (number * unit) as u64);
        }
    }
    found
}

async fn analyzed(s: &linn_sql::Session, sql: &str) -> String {
    let plan = rows(s, &format!("EXPLAIN ANALYZE {sql}")).await.join("\n");
    let scan = plan.lines().find(|line| line.contains("LinnScan")).unwrap_or_else(|| panic!("{plan}"));
    scan.split_once("metrics=").map_or_else(|| panic!("{plan}"), |(_, metrics)| metrics.to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn in_every_format() {
    let s = session();
    run(&s, ORDERS).await;
    let query = "SELECT dt, sum(amount) FROM orders GROUP BY dt";
    assert!(rows(&s, &format!("EXPLAIN {query}")).await.join("\n").contains("LinnScan: table=default.orders"));
    assert!(rows(&s, &format!("EXPLAIN FORMAT TREE {query}")).await.join("\n").contains("LinnScan"));
    let json = rows(&s, &format!("EXPLAIN FORMAT JSON {query}")).await.join("\n");
    assert!(json.contains("\"Plan\""), "{json}");
    assert!(rows(&s, &format!("EXPLAIN FORMAT GRAPHVIZ {query}")).await.join("\n").contains("digraph"));
    assert!(rows(&s, &format!("EXPLAIN VERBOSE {query}")).await.len() > 5);
    assert!(rows(&s, &format!("EXPLAIN ANALYZE FORMAT JSON {query}")).await.join("\n").contains("LinnScan"));
    assert_eq!(fails(&s, "EXPLAIN ANALYZE FORMAT TREE SELECT 1").await.kind(), ErrorKind::Unsupported);
    assert_eq!(fails(&s, "EXPLAIN FORMAT XML SELECT 1").await.kind(), ErrorKind::Invalid);
}

/// The plan is that of the rows, and nothing is written.
#[tokio::test(flavor = "multi_thread")]
async fn of_statements_that_write() {
    let s = session();
    run(&s, ORDERS).await;
    run(&s, "CREATE TABLE a AS SELECT * FROM orders").await;
    for table in ["orders", "a"] {
        let all = format!("SELECT * FROM {table} ORDER BY id");
        let before = (rows(&s, &all).await, rows(&s, &format!("SELECT count(*) FROM {table}$snapshots")).await);
        for (operation, sql) in [
            ("INSERT", format!("INSERT INTO {table} SELECT id + 10, dt, amount, note FROM orders")),
            ("INSERT", format!("INSERT INTO {table} (id, dt) VALUES (9, 'x')")),
            ("OVERWRITE", format!("INSERT OVERWRITE {table} SELECT * FROM orders")),
            ("UPDATE", format!("UPDATE {table} SET note = upper(note) WHERE id > 1")),
            ("DELETE", format!("DELETE FROM {table} WHERE id > 1")),
            (
                "MERGE",
                format!(
                    "MERGE INTO {table} t USING orders o ON t.id = o.id WHEN MATCHED THEN UPDATE SET note = 'x' \
                     WHEN NOT MATCHED THEN INSERT *"
                ),
            ),
        ] {
            let plan = rows(&s, &format!("EXPLAIN {sql}")).await;
            assert_eq!(plan[0], format!("write|LinnWrite: table=default.{table}, operation={operation}"), "{sql}");
            let plan = plan.join("\n");
            assert!(plan.contains("physical_plan"), "{plan}");
            let scans = plan.contains("LinnScan") || plan.contains("StreamingTableExec");
            assert!(scans || sql.contains("VALUES"), "{plan}");
            assert!(rows(&s, &format!("EXPLAIN FORMAT TREE {sql}")).await.join("\n").contains("LinnWrite"));
            assert_eq!(fails(&s, &format!("EXPLAIN ANALYZE {sql}")).await.kind(), ErrorKind::Unsupported);
        }
        let after = (rows(&s, &all).await, rows(&s, &format!("SELECT count(*) FROM {table}$snapshots")).await);
        assert_eq!(before, after);
    }
    // What the statement would be refused for is told.
    assert_eq!(fails(&s, "EXPLAIN UPDATE orders SET id = 1").await.kind(), ErrorKind::Invalid);
    assert_eq!(fails(&s, "EXPLAIN DROP TABLE orders").await.kind(), ErrorKind::Unsupported);
}

/// The first statement on a table reads its manifests, later ones of the session have them, and a commit adds its own.
#[tokio::test(flavor = "multi_thread")]
async fn statements_share_manifests() {
    let [writer, s] = sessions();
    run(&writer, ORDERS).await;
    let mut requests = Vec::new();
    for _ in 0..2 {
        let metrics = analyzed(&s, "SELECT * FROM orders").await;
        requests.push((metric(&metrics, "planning_requests").unwrap(), metric(&metrics, "cache_hits").unwrap()));
    }
    let [(first, cold), (second, warm)] = requests[..] else { panic!("{requests:?}") };
    assert!(second < first && warm > cold && cold == 0, "{requests:?}");
    let count = "SELECT count(*) FROM orders";
    let before = rows(&s, count).await;
    run(&writer, "INSERT INTO orders SELECT id + 100, dt, amount, note FROM orders").await;
    assert_ne!(rows(&s, count).await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_rows_bytes_and_what_was_left_out() {
    let s = session();
    run(
        &s,
        "CREATE TABLE t (id INT, v STRING, d STRING) PARTITIONED BY (d); \
         INSERT INTO t VALUES (1, 'a', 'x'), (2, 'b', 'y'); INSERT INTO t VALUES (11, 'c', 'x'), (12, 'd', 'z')",
    )
    .await;
    let all = analyzed(&s, "SELECT * FROM t").await;
    assert_eq!(metric(&all, "output_rows"), Some(4), "{all}");
    assert_eq!(metric(&all, "files"), Some(4), "{all}");
    assert_eq!(metric(&all, "partitions"), Some(3), "{all}");
    assert_eq!(metric(&all, "row_groups"), Some(4), "{all}");
    assert!(metric(&all, "bytes_read").unwrap() > 1_000 && metric(&all, "requests").unwrap() >= 4, "{all}");
    assert!(all.contains("elapsed_compute="), "{all}");
    let some = analyzed(&s, "SELECT * FROM t WHERE d = 'x' AND id > 5").await;
    assert_eq!((metric(&some, "output_rows"), metric(&some, "files")), (Some(1), Some(1)), "{some}");
    assert_eq!(metric(&some, "files_pruned_by_partition"), Some(2), "{some}");
    assert_eq!(metric(&some, "files_pruned_by_statistics"), Some(1), "{some}");
    assert!(metric(&some, "bytes_read").unwrap() < metric(&all, "bytes_read").unwrap(), "{some}");
    let none = analyzed(&s, "SELECT count(v) FROM t WHERE v < 'a'").await;
    assert_eq!(metric(&none, "files"), Some(0), "{none}");
    assert_eq!(metric(&none, "bytes_read"), Some(0), "{none}");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_keys_buckets_and_row_groups() {
    let s = session();
    run(
        &s,
        "CREATE TABLE k (id INT, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '4', 'file.block-size' = '1 kb'); \
         INSERT INTO k SELECT i, i FROM (SELECT unnest(range(0, 4000)) AS i)",
    )
    .await;
    let one = analyzed(&s, "SELECT v FROM k WHERE id = 7").await;
    assert_eq!((metric(&one, "output_rows"), metric(&one, "buckets")), (Some(1), Some(1)), "{one}");
    assert_eq!(metric(&one, "files_pruned_by_bucket"), Some(3), "{one}");
    let low = analyzed(&s, "SELECT v FROM k WHERE id < 0").await;
    assert_eq!(metric(&low, "files_pruned_by_key"), Some(4), "{low}");
}
