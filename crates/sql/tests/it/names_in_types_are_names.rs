//! Types are read alike wherever they stand, and names in them are names.

use crate::{rows, run, session};

#[tokio::test(flavor = "multi_thread")]
async fn in_create_alter_and_cast() {
    let s = session();
    run(&s, "CREATE TABLE q (id INT, a ROW<b INT, \"c d\" STRING>, e ROW<`f g` INT, \"h\" ROW<i INT>>)").await;
    run(&s, "ALTER TABLE q ADD COLUMN z ROW<\"x y\" INT, `u\"v` STRING>").await;
    run(&s, "ALTER TABLE q ADD COLUMN a.n MAP<STRING, ARRAY<INT>>").await;
    run(&s, "ALTER TABLE q MODIFY COLUMN a.b BIGINT").await;
    run(&s, "ALTER TABLE q ALTER COLUMN e.\"f g\" TYPE BIGINT").await;
    let types: Vec<String> =
        rows(&s, "DESCRIBE q").await.iter().filter_map(|row| row.split('|').nth(1).map(str::to_owned)).collect();
    assert_eq!(
        types,
        [
            "INT",
            "ROW<`b` BIGINT, `c d` STRING, `n` MAP<STRING, ARRAY<INT>>>",
            "ROW<`f g` BIGINT, `h` ROW<`i` INT>>",
            "ROW<`x y` INT, `u\"v` STRING>",
        ]
    );
    let cast = "CAST(named_struct('b', 1, 'c d', 'x') AS ROW<\"b\" BIGINT, `c d` STRING>)";
    assert_eq!(rows(&s, &format!("SELECT {cast}['c d'], arrow_typeof({cast}['b'])")).await, ["x|Int64"]);
    assert_eq!(
        rows(&s, "SELECT [1, 2]::ARRAY<BIGINT>, arrow_typeof(CAST(NULL AS MAP<STRING, INT>)) LIKE 'Map%'").await,
        ["[1, 2]|true"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn casts_cut_to_lengths_and_digits() {
    let s = session();
    for (expression, expected) in [
        ("CAST('日本語文' AS VARCHAR(3))", "日本語"),
        ("'abcd'::CHAR(2)", "ab"),
        ("CAST('ab' AS VARCHAR(3))", "ab"),
        ("CAST(12345 AS VARCHAR(3))", "123"),
        ("CAST(X'010203' AS BINARY(2))", "0102"),
        ("CAST('ab' AS BYTES)", "6162"),
        ("CAST(TIMESTAMP '2026-01-01 00:00:00.129' AS TIMESTAMP(2))", "2026-01-01T00:00:00.120"),
        ("CAST(TIMESTAMP '1969-12-31 23:59:59.999' AS TIMESTAMP(1))", "1969-12-31T23:59:59.900"),
        ("CAST('10:00:00.789' AS TIME(1))", "10:00:00.700"),
        ("TRY_CAST('x' AS TIME(1))", ""),
        ("CAST(77.9 AS INT)", "77"),
    ] {
        assert_eq!(rows(&s, &format!("SELECT {expression}")).await, [expected], "{expression}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn options_of_a_column_with_a_point_stay() {
    let s = session();
    run(
        &s,
        "CREATE TABLE t (k INT NOT NULL, x INT, \"x.y\" INT, PRIMARY KEY (k) NOT ENFORCED) WITH ('merge-engine' = 'aggregation', \
         'fields.x.aggregate-function' = 'sum', 'fields.x.y.aggregate-function' = 'max')",
    )
    .await;
    run(&s, "ALTER TABLE t RENAME COLUMN x TO n").await;
    let created = rows(&s, "SHOW CREATE TABLE t").await.join(" ");
    assert!(
        created.contains("fields.n.aggregate-function") && created.contains("fields.x.y.aggregate-function"),
        "{created}"
    );
    run(&s, "INSERT INTO t VALUES (1, 1, 5); INSERT INTO t VALUES (1, 2, 3)").await;
    assert_eq!(rows(&s, "SELECT n, \"x.y\" FROM t").await, ["3|5"]);
}
