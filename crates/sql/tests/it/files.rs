//! Files in queries: by their names and by functions, COPY in both directions.

use std::path::Path;

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::TimestampMicrosecondType;
use futures::TryStreamExt;
use linn::ErrorKind;
use linn_sql::Output;
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
        ("t.arrow", ""),
        ("t.bin", "(FORMAT arrow)"),
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
        (format!("SELECT * FROM '{dir}/a.csv'"), ErrorKind::Invalid, "fields in the row: 1, columns of the file: 2"),
        (
            format!("SELECT * FROM read_csv('{dir}/b.csv', columns = {{'id': 'INT'}})"),
            ErrorKind::Invalid,
            "'x' is not of type INT",
        ),
        (format!("SELECT * FROM '{dir}/c.txt'"), ErrorKind::Invalid, "is not known from its name"),
        (format!("SELECT * FROM '{dir}/none.csv'"), ErrorKind::NotFound, "no such file"),
        (format!("SELECT * FROM '{dir}/d.parquet'"), ErrorKind::Corrupt, "Parquet"),
        (format!("SELECT * FROM read_cvs('{dir}/a.csv')"), ErrorKind::Unsupported, "read_cvs"),
        (format!("SELECT * FROM read_csv('{dir}/a.csv', heder = true)"), ErrorKind::Invalid, "unknown option 'heder'"),
        (format!("SELECT * FROM '{dir}/none.orc'"), ErrorKind::NotFound, "no such file"),
        (format!("SELECT * FROM read_orc('{dir}/d.parquet')"), ErrorKind::Corrupt, "d.parquet"),
        (format!("SELECT * FROM read_avro('{dir}/d.parquet')"), ErrorKind::Corrupt, "d.parquet"),
        (format!("SELECT * FROM read_arrow('{dir}/d.parquet')"), ErrorKind::Corrupt, "d.parquet"),
        (format!("COPY t TO '{dir}/x.orc'"), ErrorKind::Unsupported, "COPY to ORC files"),
        (format!("COPY t TO '{dir}/x.arrow' (COMPRESSION zstd)"), ErrorKind::Unsupported, "zstd"),
        (format!("COPY t FROM '{dir}/e.csv'"), ErrorKind::Invalid, "that the table does not have"),
        (format!("COPY t TO '{dir}/x.dat'"), ErrorKind::Invalid, "is not known from its name"),
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

/// The files of a table are files.
#[tokio::test(flavor = "multi_thread")]
async fn orc_and_avro_are_read() {
    let (_folder, dir) = folder();
    let storage = linn::core::storage::open(&format!("file:{dir}"), &linn::Options::new()).unwrap();
    let catalog = linn::FilesystemCatalog::new(linn::Env::system(storage).unwrap(), linn::Options::new());
    let s = linn_sql::Session::new(std::sync::Arc::new(catalog), "default");
    let columns = "id BIGINT, s STRING, d DECIMAL(10, 2), f DOUBLE, b BOOLEAN, day DATE, at TIMESTAMP(3), y BYTES, \
                   l ARRAY<INT>, r ROW<n INT, t STRING>";
    for format in ["orc", "avro"] {
        run(
            &s,
            &format!(
                "CREATE TABLE {format} ({columns}) WITH ('bucket' = '-1', 'file.format' = '{format}'); \
                 INSERT INTO {format} VALUES (1, 'a', 1.50, 0.5, true, DATE '2026-01-31', TIMESTAMP '2026-01-31 10:00:00.123', \
                 X'00ff', [1, NULL], named_struct('n', 1, 't', 'x')); \
                 INSERT INTO {format} (id, s) SELECT value, repeat('y', 100) FROM generate_series(2, 20000)"
            ),
        )
        .await;
        let files = format!("'{dir}/default.db/{format}/bucket-0/*.{format}'");
        // Timestamps of Avro are in UTC.
        let first = "SELECT id, s, d, f, b, day, CAST(at AS TIMESTAMP(3)), y, l, r FROM";
        let expected = rows(&s, &format!("{first} {format} ORDER BY id LIMIT 3")).await;
        assert_eq!(rows(&s, &format!("{first} {files} ORDER BY id LIMIT 3")).await, expected);
        let query = |from: &str| format!("SELECT count(*), sum(id), max(length(s)), count(d) FROM {from}");
        let expected = rows(&s, &query(format)).await;
        assert_eq!(rows(&s, &query(&format!("read_{format}({files})"))).await, expected);
        assert_eq!(rows(&s, &format!("SELECT count(*) FROM {files}")).await, ["20000"]);
        run(&s, &format!("CREATE TABLE back_{format} ({columns}); COPY back_{format} FROM {files}")).await;
        assert_eq!(rows(&s, &query(&format!("back_{format}"))).await, expected);
        // Damage is an error, wherever it is.
        let path =
            std::fs::read_dir(format!("{dir}/default.db/{format}/bucket-0")).unwrap().next().unwrap().unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        for cut in [0, 1, 10, bytes.len() / 2, bytes.len() - 1] {
            let cut_off = format!("{dir}/cut.{format}");
            std::fs::write(&cut_off, &bytes[..cut]).unwrap();
            let error = fails(&s, &format!("SELECT * FROM '{cut_off}'")).await;
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{cut}: {error:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn int96_timestamps_of_all_years_are_read() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/parquet-testing/int96_from_spark.parquet");
    let Output::Rows { stream, .. } = session().execute(&format!("SELECT a FROM '{file}'")).await.unwrap() else {
        panic!("no rows")
    };
    let batches: Vec<RecordBatch> = stream.try_collect().await.unwrap();
    let values = batches.iter().flat_map(|batch| batch.column(0).as_primitive::<TimestampMicrosecondType>().iter());
    let expected = [
        Some(1_704_141_296_123_456),
        Some(1_704_070_800_000_000),
        // The year 9999, and one around 290000.
        Some(253_402_225_200_000_000),
        Some(1_735_599_600_000_000),
        None,
        Some(9_089_380_393_200_000_000),
    ];
    assert_eq!(values.collect::<Vec<_>>(), expected);
}
