//! Timestamps that Arrow's nanoseconds do not reach: Linn compacts tables of Java that hold them, and Java reads the same rows.

use linn_testkit::fixture::{Fixtures, Writer};
use linn_testkit::peer::Peer;
use serde_json::json;

use crate::linn::Ring;

/// Java puts null for an all-null row in an array of its own old files; those come from a reader, not from the bytes.
fn compacted(writer: Writer, table: &str) {
    let Some(mut ring) = Ring::over(&Fixtures::open(writer), table) else { return };
    ring.widen();
    let before = ring.java_reads();
    let files = ring.system("files", &["file_path"]);
    ring.compact(true);
    assert_ne!(ring.system("files", &["file_path"]), files, "{table} was not rewritten");
    ring.check(&format!("{table}, compacted by Linn"), &before);
}

#[test]
fn tables_of_java_keep_them_through_a_compaction() {
    compacted(Writer::Java21, "types_pk_parquet");
    compacted(Writer::Java21, "types_append_parquet");
}

#[test]
fn tables_of_old_java_keep_them_through_a_compaction() {
    compacted(Writer::Java09, "types_pk_parquet");
    compacted(Writer::Java09, "types_append_parquet");
}

#[test]
fn what_linn_writes_as_text_java_reads() {
    let schema = json!({
        "fields": [
            { "id": 0, "name": "t", "type": "TIMESTAMP(9) NOT NULL" },
            { "id": 1, "name": "z", "type": "TIMESTAMP(9) WITH LOCAL TIME ZONE" },
            { "id": 2, "name": "all", "type": { "type": "ARRAY", "element": "TIMESTAMP(7)" } },
        ],
        "partitionKeys": [],
        "primaryKeys": ["t"],
        "options": { "bucket": "2" },
    });
    let Some(mut ring) = Ring::new(&schema, [Peer::java_old()]) else { return };
    ring.widen();
    let row = |t: &str| json!({ "t": t, "z": format!("{t}Z"), "all": [&t[..t.len() - 2], null] });
    let times = [
        "0001-01-01T00:00:00.000000000",
        "1677-09-21T00:12:43.145224191",
        "1969-12-31T23:59:59.999999999",
        "2024-02-29T12:00:00.000000001",
        "2262-04-11T23:47:16.854775808",
        "9999-12-31T23:59:59.999999999",
    ];
    let rows: Vec<_> = times.iter().map(|t| row(t)).collect();
    ring.write(&rows);
    ring.check("written", &rows);
    ring.write(&rows[..3]);
    ring.compact(true);
    ring.check("compacted", &rows);
}
