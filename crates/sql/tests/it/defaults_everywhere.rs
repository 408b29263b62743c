//! A value that a statement leaves out is the column's default, in every statement and every kind of table.

use crate::{fails, rows, run, session};

const KINDS: [&str; 8] = [
    "",
    "PRIMARY KEY (a) NOT ENFORCED, 'bucket'='1'",
    "PRIMARY KEY (a) NOT ENFORCED, 'bucket'='2'",
    "PRIMARY KEY (a) NOT ENFORCED, 'bucket'='-1'",
    "PRIMARY KEY (a) NOT ENFORCED, 'bucket'='1', 'deletion-vectors.enabled'='true'",
    "PRIMARY KEY (a) NOT ENFORCED, 'bucket'='1', 'merge-engine'='partial-update'",
    "PRIMARY KEY (a) NOT ENFORCED, 'bucket'='1', 'merge-engine'='aggregation'",
    "'bucket'='2', 'bucket-key'='a'",
];

#[tokio::test(flavor = "multi_thread")]
async fn in_merge_insert_and_update() {
    for (number, kind) in KINDS.into_iter().enumerate() {
        let s = session();
        let (key, options) = match kind.split_once("ENFORCED, ") {
            Some((key, options)) => (format!(", {key}ENFORCED"), options),
            None => (String::new(), kind),
        };
        let with = if options.is_empty() { String::new() } else { format!(" WITH ({options})") };
        run(
            &s,
            &format!("CREATE TABLE t (a INT NOT NULL, b INT DEFAULT 6, c STRING DEFAULT 'test', d DATE DEFAULT '2026-01-02'{key}){with}"),
        )
        .await;
        run(&s, "INSERT INTO t VALUES (1, 10, 'c1', NULL), (2, 20, 'c2', NULL)").await;
        run(
            &s,
            "MERGE INTO t USING (SELECT 1 AS a UNION ALL SELECT 3) s ON t.a = s.a WHEN NOT MATCHED THEN INSERT (a) VALUES (s.a)",
        )
        .await;
        run(
            &s,
            "MERGE INTO t USING (SELECT 4 AS a) s ON t.a = s.a WHEN NOT MATCHED THEN INSERT (a, b, c) VALUES (s.a, DEFAULT, 'x')",
        )
        .await;
        run(&s, "INSERT INTO t (a) VALUES (5); INSERT INTO t VALUES (6, DEFAULT, default, DEFAULT)").await;
        run(&s, "INSERT INTO t (a, b) SELECT 7, NULL").await;
        let expected = [
            "1|10|c1|",
            "2|20|c2|",
            "3|6|test|2026-01-02",
            "4|6|x|2026-01-02",
            "5|6|test|2026-01-02",
            "6|6|test|2026-01-02",
        ];
        assert_eq!(rows(&s, "SELECT * FROM t WHERE a < 7 ORDER BY a").await, expected, "{number}");
        run(&s, "UPDATE t SET b = DEFAULT, d = DEFAULT WHERE a = 1").await;
        run(&s, "MERGE INTO t USING (SELECT 2 AS a) s ON t.a = s.a WHEN MATCHED THEN UPDATE SET c = DEFAULT").await;
        let expected = ["1|6|c1|2026-01-02", "2|20|test|"];
        assert_eq!(rows(&s, "SELECT * FROM t WHERE a < 3 ORDER BY a").await, expected, "{number}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_every_kind() {
    let s = session();
    run(
        &s,
        "CREATE TABLE t (i INT DEFAULT -5, d DECIMAL(5, 2) DEFAULT 1.5, f DOUBLE DEFAULT 'NaN', o BOOLEAN DEFAULT TRUE, \
         n STRING DEFAULT NULL, w STRING DEFAULT 'NULL', q STRING DEFAULT 'it''s ''so''', e STRING DEFAULT '''x''', \
         ts TIMESTAMP(3) DEFAULT TIMESTAMP '2026-01-01 10:00:00.5', tm TIME DEFAULT '10:00:00', y BYTES DEFAULT 'ab')",
    )
    .await;
    run(&s, "INSERT INTO t DEFAULT VALUES; INSERT INTO t (i) VALUES (DEFAULT); INSERT INTO t SELECT * FROM t LIMIT 1")
        .await;
    let row = "-5|1.50|NaN|true||NULL|it's 'so'|'x'|2026-01-01T10:00:00.500|10:00:00|6162";
    assert_eq!(rows(&s, "SELECT * FROM t").await, [row; 3]);
    assert_eq!(rows(&s, "SELECT count(*) FROM t WHERE n IS NULL AND w IS NOT NULL").await, ["3"]);
    fails(&s, "CREATE TABLE u (s STRING DEFAULT word)").await;
    fails(&s, "INSERT INTO t (i) VALUES (\"DEFAULT\")").await;
    run(&s, "CREATE TABLE v (k INT NOT NULL, n INT NOT NULL)").await;
    fails(&s, "INSERT INTO v (k, n) VALUES (1, DEFAULT)").await;
    fails(&s, "INSERT INTO v (k) VALUES (1)").await;
}
