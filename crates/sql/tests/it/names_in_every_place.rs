//! Branches, system tables and points in time wherever a table stands; other names of types.

use linn::ErrorKind;

use crate::{fails, rows, run, session};

const TABLE: &str = "CREATE TABLE t (k INT, v STRING, d STRING, PRIMARY KEY (k, d) NOT ENFORCED) PARTITIONED BY (d) WITH ('bucket' = '1'); \
     INSERT INTO t VALUES (1, 'a', 'x'); CALL sys.create_tag('t', 'one', 1); CALL sys.create_branch('t', 'b', 'one')";

#[tokio::test(flavor = "multi_thread")]
async fn branches_and_system_tables() {
    let s = session();
    run(&s, TABLE).await;
    run(&s, "INSERT INTO t$branch_b VALUES (2, 'b', 'y'); INSERT INTO t$branch_b VALUES (3, 'c', 'y')").await;
    assert_eq!(rows(&s, "SELECT k FROM t$branch_b ORDER BY k").await, ["1", "2", "3"]);
    assert_eq!(
        rows(&s, "SELECT b.k FROM t$branch_b b LEFT JOIN t ON t.k = b.k WHERE t.k IS NULL ORDER BY 1").await,
        ["2", "3"]
    );
    assert_eq!(rows(&s, "DESCRIBE t$branch_b").await.len(), 3);
    assert_eq!(rows(&s, "DESCRIBE t$branch_b$snapshots").await[0], "snapshot_id|BIGINT");
    assert_eq!(rows(&s, "DESCRIBE t$files").await.iter().filter(|line| line.contains("Utf8")).count(), 0);
    assert_eq!(rows(&s, "SHOW PARTITIONS t$branch_b").await.len(), 2);
    assert_eq!(rows(&s, "SHOW SNAPSHOTS FROM t$branch_b").await.len(), 3);
    assert!(rows(&s, "SHOW CREATE TABLE t$branch_b").await.join("\n").contains("CREATE TABLE"));
    assert_eq!(fails(&s, "SHOW CREATE TABLE t$snapshots").await.kind(), ErrorKind::Invalid);
    assert!(rows(&s, "EXPLAIN SELECT * FROM t$branch_b").await.join("\n").contains("LinnScan"));
    rows(&s, "EXPLAIN SELECT * FROM t$branch_b$snapshots").await;
    assert_eq!(rows(&s, "SUMMARIZE t$branch_b").await.len(), 3);
    run(&s, "CREATE TABLE copied AS SELECT * FROM t$branch_b; CREATE TABLE told AS SELECT * FROM t$snapshots").await;
    assert_eq!(rows(&s, "SELECT count(*) FROM copied").await, ["3"]);
    run(&s, "MERGE INTO t USING t$branch_b b ON t.k = b.k AND t.d = b.d WHEN NOT MATCHED THEN INSERT *").await;
    assert_eq!(rows(&s, "SELECT count(*) FROM t").await, ["3"]);
    run(&s, "UPDATE t$branch_b SET v = 'z' WHERE k = 2; DELETE FROM t$branch_b WHERE k = 3").await;
    assert_eq!(rows(&s, "SELECT k, v FROM t$branch_b ORDER BY k").await, ["1|a", "2|z"]);
    run(&s, "CREATE TEMP VIEW w AS SELECT max(snapshot_id) AS m FROM t$branch_b$snapshots").await;
    assert_eq!(rows(&s, "SELECT m FROM w").await.len(), 1);
    assert_eq!(fails(&s, "INSERT INTO t$snapshots VALUES (1)").await.kind(), ErrorKind::Invalid);
    assert_eq!(fails(&s, "SELECT * FROM t$branch_none").await.kind(), ErrorKind::NotFound);
}

#[tokio::test(flavor = "multi_thread")]
async fn points_in_time_are_expressions() {
    let s = session();
    run(&s, TABLE).await;
    let later = "now() + INTERVAL '1' HOUR";
    for time in [
        later,
        "current_timestamp + INTERVAL '1' DAY",
        "to_timestamp('2200-01-01 00:00:00')",
        "CAST('2999-01-01' AS DATE)",
        "TIMESTAMP '2200-01-01 00:00:00' - INTERVAL '1' YEAR",
        "'2999-01-01 ' || '00:00:00'",
        "32472144000000",
        "TIMESTAMP '2200-01-01 00:00:00'",
    ] {
        assert_eq!(
            rows(&s, &format!("SELECT t.k FROM t FOR TIMESTAMP AS OF {time} WHERE t.k > 0")).await,
            ["1"],
            "{time}"
        );
        assert_eq!(rows(&s, &format!("SELECT x.k FROM t TIMESTAMP AS OF ({time}) AS x")).await, ["1"], "{time}");
    }
    for (time, kind) in [
        ("now() - INTERVAL '1' HOUR", ErrorKind::NotFound),
        ("NULL", ErrorKind::Invalid),
        ("nothing", ErrorKind::Invalid),
        ("true", ErrorKind::Invalid),
        ("(SELECT max(k) FROM t)", ErrorKind::Invalid),
        ("", ErrorKind::Invalid),
    ] {
        let error = fails(&s, &format!("SELECT * FROM t FOR TIMESTAMP AS OF {time}")).await;
        assert_eq!(error.kind(), kind, "{time}: {error:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn types_have_other_names() {
    let s = session();
    run(
        &s,
        "CREATE TABLE n (a REAL, b FLOAT8, c INT2, d INT8, e TIMESTAMPTZ, f JSON, g VARCHAR, h TEXT, i BYTEA, j NUMERIC(5, 1), \
         k DOUBLE PRECISION, l BOOL, m CHARACTER VARYING(3), o TIMESTAMP WITH TIME ZONE)",
    )
    .await;
    let types: Vec<String> =
        rows(&s, "DESCRIBE n").await.iter().map(|line| line.split('|').nth(1).unwrap().to_owned()).collect();
    assert_eq!(
        types.join(","),
        "FLOAT,DOUBLE,SMALLINT,BIGINT,TIMESTAMP(6) WITH LOCAL TIME ZONE,STRING,STRING,STRING,BYTES,DECIMAL(5, 1),DOUBLE,BOOLEAN,\
         VARCHAR(3),TIMESTAMP(6) WITH LOCAL TIME ZONE"
    );
    run(&s, "ALTER TABLE n ADD COLUMN p FLOAT4; ALTER TABLE n ALTER COLUMN c TYPE INT4").await;
    assert_eq!(
        rows(&s, "SELECT data_type FROM information_schema.columns WHERE column_name IN ('c', 'p') ORDER BY 1").await,
        ["FLOAT", "INT"]
    );
    for (cast, expected) in [
        ("CAST('1.5' AS REAL)", "1.5"),
        ("CAST('1.5' AS FLOAT8)", "1.5"),
        ("CAST('1.5' AS DOUBLE PRECISION)", "1.5"),
        ("CAST('7' AS INT2)", "7"),
        ("CAST('7' AS INT8)", "7"),
        ("CAST('{\"a\":1}' AS JSON)", "{\"a\":1}"),
        ("'x'::VARCHAR", "x"),
        ("CAST('x' AS TEXT)", "x"),
        ("CAST('1.25' AS NUMERIC(5, 2))", "1.25"),
        ("CAST('true' AS BOOL)", "true"),
        ("CAST('2026-01-01T00:00:00Z' AS TIMESTAMPTZ) = CAST('2026-01-01T01:00:00+01:00' AS TIMESTAMPTZ)", "true"),
    ] {
        assert_eq!(rows(&s, &format!("SELECT {cast}")).await, [expected], "{cast}");
    }
}
