//! Files in queries: by their names and by functions, COPY in both directions.

use std::path::Path;

use linn::ErrorKind;
use tempfile::TempDir;

use crate::{fails, rows, run, session};

fn folder() -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap().to_owned();
    (folder, path)
}

fn write(path: impl AsRef<Path>, text: &str) {
    std::fs::write(path, text).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn every_format_comes_back_as_it_went() {
    let s = session();
    let (_folder, dir) = folder();
    run(
        &s,
        "CREATE TABLE t (id BIGINT, s STRING, d DECIMAL(10, 2), f DOUBLE, b BOOLEAN, day DATE, at TIMESTAMP(3), y BYTES); \
         INSERT INTO t VALUES (1, 'a,\"b\"\nc', 1.50, 0.5, true, DATE '2026-01-31', TIMESTAMP '2026-01-31 10:00:00.123', X'00ff'), \
         (2, '', -2, -1e300, false, DATE '1969-12-31', TIMESTAMP '1900-01-01 00:00:00', X''), \
         (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), \
         (4, '日本', 0.01, 3, NULL, NULL, NULL, NULL)",
    )
    .await;
    let all = "SELECT id, s IS NULL, s, d, f, b, day, at, y FROM t ORDER BY id NULLS LAST";
    let expected = rows(&s, all).await;
    for (name, options) in [
        ("t.parquet", ""),
        ("u.parquet", "(COMPRESSION snappy, ROW_GROUP_SIZE 2)"),
        ("t.csv", ""),
        ("t.csv.gz", ""),
        ("u.csv", "(HEADER false, DELIMITER '|', QUOTE '''', NULL 'nil')"),
        ("t.tsv.zst", ""),
    ] {
        let path = format!("{dir}/{name}");
        run(
            &s,
            &format!(
                "COPY t TO '{path}' {options}; TRUNCATE TABLE t; COPY t FROM '{path}' {}",
                options.replace("(COMPRESSION snappy, ROW_GROUP_SIZE 2)", "")
            ),
        )
        .await;
        assert_eq!(rows(&s, all).await, expected, "{name}");
    }
    for (name, options) in [("t.json", ""), ("u.json", "(ARRAY true)"), ("t.ndjson.gz", "")] {
        let path = format!("{dir}/{name}");
        // Bytes are digits in hexadecimal there, and digits are no bytes.
        run(&s, &format!("COPY t (id, s, d, f, b, day, at) TO '{path}' {options}")).await;
        run(&s, &format!("CREATE OR REPLACE TABLE back AS SELECT * FROM t WHERE false; COPY back (id, s, d, f, b, day, at) FROM '{path}'")).await;
        let q = "SELECT id, s IS NULL, s, d, f, b, day, at FROM t ORDER BY id NULLS LAST";
        assert_eq!(rows(&s, &q.replace("FROM t", "FROM back")).await, rows(&s, q).await, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn names_tell_files_and_patterns_find_many() {
    let s = session();
    let (_folder, dir) = folder();
    write(format!("{dir}/a.csv"), "id,v\n1,x\n2,\"\"\n3,\n");
    write(format!("{dir}/b.csv"), "v,id\ny,4\n");
    assert_eq!(
        rows(&s, &format!("SELECT a.id, v IS NULL FROM '{dir}/a.csv' ORDER BY id")).await,
        ["1|false", "2|false", "3|true"]
    );
    assert_eq!(rows(&s, &format!("SELECT sum(id), count(v) FROM '{dir}/*.csv'")).await, ["10|3"]);
    assert_eq!(rows(&s, &format!("SELECT sum(id) FROM read_csv(['{dir}/a.csv', '{dir}/b.csv'])")).await, ["10"]);
    assert_eq!(rows(&s, &format!("SELECT x.* FROM read_csv('{dir}/b.csv', header = false) x")).await, ["v|id", "y|4"]);
    assert_eq!(
        rows(&s, &format!("SELECT * FROM read_csv('{dir}/b.csv', columns = {{'v': 'STRING', 'id': 'DECIMAL(5, 2)'}})"))
            .await,
        ["y|4.00"]
    );
    assert_eq!(rows(&s, &format!("DESCRIBE '{dir}/a.csv'")).await, ["id|BIGINT|YES", "v|STRING|YES"]);
    run(&s, &format!("CREATE TABLE t AS SELECT id, v FROM '{dir}/a.csv'; COPY t TO '{dir}/one.parquet'; COPY (SELECT id + 10 AS id, v FROM t) TO '{dir}/two.parquet'")).await;
    assert_eq!(rows(&s, &format!("SELECT count(*), max(id) FROM '{dir}/*.parquet' WHERE id > 2")).await, ["4|13"]);
    assert_eq!(
        rows(
            &s,
            &format!("SELECT f.id FROM t JOIN read_parquet('{dir}/one.parquet') f ON t.id = f.id WHERE f.v = 'x'")
        )
        .await,
        ["1"]
    );
    run(&s, &format!("MERGE INTO t USING '{dir}/two.parquet' f ON t.id = f.id WHEN NOT MATCHED THEN INSERT *")).await;
    assert_eq!(rows(&s, "SELECT count(*) FROM t").await, ["6"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn json_of_every_layout_is_read() {
    let s = session();
    let (_folder, dir) = folder();
    write(format!("{dir}/lines.json"), "{\"a\": 1, \"b\": {\"c\": [1, 2]}}\n{\"a\": 2}\n");
    write(format!("{dir}/list.json"), "[\n {\"a\": 3,\n  \"b\": null},\n {\"a\": 4}\n]");
    write(format!("{dir}/long.json"), "{\"n\": 18446744073709551617}\n{\"n\": 1}");
    assert_eq!(rows(&s, &format!("SELECT a, b['c'] FROM '{dir}/lines.json' ORDER BY a")).await, ["1|[1, 2]", "2|"]);
    assert_eq!(rows(&s, &format!("SELECT a FROM '{dir}/list.json' ORDER BY a")).await, ["3", "4"]);
    assert_eq!(rows(&s, &format!("SELECT n FROM '{dir}/long.json' ORDER BY n")).await, ["1", "18446744073709551617"]);
    assert_eq!(
        rows(&s, &format!("DESCRIBE '{dir}/lines.json'")).await,
        ["a|BIGINT|YES", "b|ROW<`c` ARRAY<BIGINT>>|YES"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_a_file_is_named() {
    let s = session();
    let (_folder, dir) = folder();
    write(format!("{dir}/a.csv"), "id,v\n1,x\n2\n");
    write(format!("{dir}/b.csv"), "id\n1\nx\n");
    write(format!("{dir}/c.txt"), "1");
    write(format!("{dir}/d.parquet"), "PAR1 this is none PAR1");
    write(format!("{dir}/e.csv"), "id,other\n1,2\n");
    write(format!("{dir}/f.json"), "{\"id\": 1}\n{\"id\": ");
    run(&s, "CREATE TABLE t (id INT, v STRING)").await;
    for (sql, kind, says) in [
        (format!("SELECT * FROM '{dir}/a.csv'"), ErrorKind::Invalid, "1 fields instead of 2"),
        (
            format!("SELECT * FROM read_csv('{dir}/b.csv', columns = {{'id': 'INT'}})"),
            ErrorKind::Invalid,
            "'x' is not of type INT",
        ),
        (format!("SELECT * FROM '{dir}/c.txt'"), ErrorKind::Invalid, "does not tell its format"),
        (format!("SELECT * FROM '{dir}/none.csv'"), ErrorKind::NotFound, "no such file"),
        (format!("SELECT * FROM '{dir}/d.parquet'"), ErrorKind::Corrupt, "Parquet"),
        (format!("SELECT * FROM read_cvs('{dir}/a.csv')"), ErrorKind::Unsupported, "read_cvs"),
        (format!("SELECT * FROM read_csv('{dir}/a.csv', heder = true)"), ErrorKind::Invalid, "unknown option 'heder'"),
        (format!("SELECT * FROM read_orc('{dir}/a.orc')"), ErrorKind::Unsupported, "read_orc"),
        (format!("COPY t FROM '{dir}/e.csv'"), ErrorKind::Invalid, "does not go to the table"),
        (format!("COPY t TO '{dir}/x.dat'"), ErrorKind::Invalid, "does not tell its format"),
        (format!("COPY t TO '{dir}/x.csv' (COMPRESSION brotli)"), ErrorKind::Unsupported, "brotli"),
        (format!("SELECT * FROM '{dir}/f.json'"), ErrorKind::Invalid, "JSON"),
    ] {
        let error = fails(&s, &sql).await;
        assert_eq!(error.kind(), kind, "{sql}: {error:?}");
        assert!(error.to_string().contains(says), "{sql}: {error:?}");
    }
    let error = fails(&s, &format!("SELECT * FROM read_csv('{dir}/b.csv', columns = {{'id': 'INT'}})")).await;
    assert!(error.context().contains(&("line", "3".to_owned())), "{error:?}");
    assert!(!Path::new(&format!("{dir}/x.csv")).exists());
    assert_eq!(rows(&s, "SELECT count(*) FROM t").await, ["0"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_that_fails_leaves_the_old_file() {
    let s = session();
    let (_folder, dir) = folder();
    run(&s, &format!("COPY (SELECT 1 AS a) TO '{dir}/a.csv'")).await;
    fails(&s, &format!("COPY (SELECT CAST(v AS INT) AS a FROM (VALUES ('1'), ('x')) t(v)) TO '{dir}/a.csv'")).await;
    assert_eq!(std::fs::read_to_string(format!("{dir}/a.csv")).unwrap(), "a\n1\n");
    assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn json_spells_what_it_has_no_numbers_for() {
    let s = session();
    let (_folder, dir) = folder();
    run(
        &s,
        &format!(
            "CREATE TABLE m (id INT, m MAP<INT, STRING>, f DOUBLE, d DECIMAL(5, 2)); \
             INSERT INTO m VALUES (1, MAP {{1: 'x'}}, CAST('NaN' AS DOUBLE), 9); COPY m TO '{dir}/m.json'"
        ),
    )
    .await;
    let text = std::fs::read_to_string(format!("{dir}/m.json")).unwrap();
    assert_eq!(text.trim(), "{\"id\":1,\"m\":{\"1\":\"x\"},\"f\":\"NaN\",\"d\":9.00}");
}
