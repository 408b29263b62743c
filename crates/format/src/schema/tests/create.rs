//! Definitions that are refused when a table is created (cases: M14).

use super::*;

#[test]
fn keys_become_not_null_and_may_stand_in_the_options() {
    let schema = keyed(&[("bucket", "2")]).unwrap();
    assert!(!schema.fields[0].data_type.nullable);
    assert_eq!((schema.highest_field_id, schema.time_millis), (7, 7));
    let table = NewTable {
        columns: vec![column("a", "INT"), column("p", "STRING")],
        options: options(&[("primary-key", "a, p"), ("partition", "p")]),
        ..NewTable::default()
    };
    let schema = TableSchema::create(table, 0).unwrap();
    assert_eq!((schema.primary_keys.len(), schema.partition_keys.len(), schema.options.len()), (2, 1, 0));
    assert_eq!(schema.trimmed_primary_keys()[0].name, "a");
    assert_eq!(schema.bucket_keys().unwrap()[0].name, "a");
}

const AGGREGATES: (&str, &str) = ("merge-engine", "aggregation");

#[test]
fn options_of_functions_over_nested_values_are_checked() {
    let create = |sql: &str, function: &str, own: &[(&str, &str)]| {
        let mut pairs = vec![AGGREGATES, ("fields.f.aggregate-function", function)];
        pairs.extend(own);
        let columns = vec![column("k", "INT"), column("f", sql)];
        TableSchema::create(
            NewTable { columns, primary_keys: vec!["k".into()], options: options(&pairs), ..NewTable::default() },
            0,
        )
    };
    let rows = "ARRAY<ROW<a INT, b STRING>>";
    create(rows, "nested_update", &[("fields.f.count-limit", "0")]).unwrap();
    for limit in ["-1", "many", "99999999999"] {
        refused(create(rows, "nested_update", &[("fields.f.count-limit", limit)]), &["fields.f.count-limit", limit]);
    }
    let strategy = "fields.f.nested-key-null-strategy";
    create(rows, "nested_update", &[("fields.f.nested-key", "a"), (strategy, "IGNORE")]).unwrap();
    refused(create(rows, "nested_update", &[("fields.f.nested-key", "a"), (strategy, "drop")]), &[strategy, "drop"]);
    let times = |own: &[(&str, &str)]| create("MAP<INT, ROW<a INT, b STRING, c INT>>", "merge_map_with_keytime", own);
    times(&[("fields.f.ts-field", "b")]).unwrap();
    refused(times(&[]), &["\"c\"", "INT"]);
    refused(times(&[("fields.f.ts-field", "nope")]), &["nope"]);
}

#[test]
fn options_that_contradict_a_keyed_table_are_refused() {
    type Case<'a> = (&'a [(&'a str, &'a str)], &'a [&'a str]);
    let cases: &[Case<'_>] = &[
        (&[("bucket", "0")], &["bucket"]),
        (&[("bucket", "-3")], &["bucket", "-3"]),
        (&[("bucket", "1"), ("bucket-key", "v")], &["bucket-key", "v"]),
        (&[("bucket", "1"), ("bucket-key", "nope")], &["bucket-key", "nope"]),
        (&[("bucket-key", "k")], &["bucket-key"]),
        (&[("sequence.field", "nope")], &["sequence.field", "nope"]),
        (&[("sequence.field", "n,n")], &["sequence.field", "twice"]),
        (&[("sequence.field", "n"), ("fields.n.aggregate-function", "sum")], &["n", "aggregate"]),
        (&[("sequence.field", "n"), ("merge-engine", "first-row")], &["first-row"]),
        (&[("merge-engine", "first-row"), ("changelog-producer", "input")], &["first-row", "input"]),
        (&[("merge-engine", "first-row"), ("deletion-vectors.enabled", "true")], &["first-row"]),
        (
            &[("changelog-producer", "full-compaction"), ("deletion-vectors.enabled", "true")],
            &["deletion-vectors.enabled"],
        ),
        (
            &[("changelog-producer", "lookup"), ("full-compaction.delta-commits", "3")],
            &["full-compaction.delta-commits"],
        ),
        (&[("changelog-producer", "loud")], &["changelog-producer", "loud", "none"]),
        (&[("fields.nope.aggregate-function", "sum")], &["nope"]),
        (&[("merge-engine", "aggregation"), ("fields.v.aggregate-function", "sum")], &["sum", "v", "STRING"]),
        (&[("merge-engine", "aggregation"), ("fields.arr.aggregate-function", "max")], &["max", "arr"]),
        (&[("merge-engine", "aggregation"), ("fields.v.aggregate-function", "median")], &["median"]),
        (&[("merge-engine", "partial-update"), ("fields.n.aggregate-function", "sum")], &["n", "sequence group"]),
        (&[("merge-engine", "partial-update"), ("fields.n.sequence-group", "k")], &["k", "primary key"]),
        (
            &[("merge-engine", "partial-update"), ("fields.n.sequence-group", "v, d")],
            &["fields.n.sequence-group", "blanks"],
        ),
        (
            &[("merge-engine", "partial-update"), ("fields.n.sequence-group", "")],
            &["fields.n.sequence-group", "blanks"],
        ),
        (&[("partition.expiration-time", "1 d")], &["partition.expiration-time", "partitions"]),
        (&[("merge-engine", "partial-update"), ("fields.k.sequence-group", "n")], &["k", "primary key"]),
        (
            &[("merge-engine", "partial-update"), ("fields.n.sequence-group", "v"), ("fields.d.sequence-group", "v")],
            &["v", "several"],
        ),
        (
            &[
                ("merge-engine", "partial-update"),
                ("ignore-delete", "true"),
                ("partial-update.remove-record-on-delete", "true"),
            ],
            &["ignore-delete", "partial-update.remove-record-on-delete"],
        ),
        (&[("rowkind.field", "n")], &["rowkind.field", "INT"]),
        (&[("record-level.time-field", "v")], &["record-level.time-field", "STRING"]),
        (&[("snapshot.num-retained.min", "0")], &["snapshot.num-retained.min"]),
        (&[("snapshot.num-retained.max", "5")], &["snapshot.num-retained.min", "5"]),
        (&[("write-buffer-size", "lots")], &["write-buffer-size", "lots"]),
        (&[("file.format", "xml")], &["file.format", "xml"]),
        (&[("row-tracking.enabled", "true")], &["row-tracking.enabled"]),
        (&[("scan.mode", "from-snapshot")], &["from-snapshot", "scan.snapshot-id"]),
        (&[("scan.snapshot-id", "1"), ("scan.timestamp-millis", "1")], &["scan.snapshot-id"]),
        (&[("sequence.snapshot-ordering", "true")], &["write-only"]),
        (&[("file-index.bloom-filter.columns", "nope")], &["nope"]),
        (
            &[
                ("merge-engine", "partial-update"),
                ("sequence.field", "n"),
                ("fields.d.sequence-group", "v"),
                ("fields.default-aggregate-function", "last_value"),
            ],
            &["\"n\"", "sequence group"],
        ),
        (&[AGGREGATES, ("fields.n.ignore-retract", "maybe")], &["fields.n.ignore-retract", "maybe"]),
        (
            &[AGGREGATES, ("fields.arr.aggregate-function", "collect"), ("fields.arr.distinct", "1")],
            &["fields.arr.distinct", "\"1\""],
        ),
    ];
    for (pairs, parts) in cases {
        refused(keyed(pairs), parts);
    }
}

#[test]
fn tables_that_nobody_could_write_to_are_not_made() {
    let cases: &[(&[(&str, &str)], &str)] = &[
        (&[("num-sorted-run.stop-trigger", "0")], "num-sorted-run.stop-trigger"),
        (&[("full-compaction.delta-commits", "0")], "full-compaction.delta-commits"),
        (&[("full-compaction.delta-commits", "-1")], "full-compaction.delta-commits"),
        (&[("lookup.cache.bloom.filter.fpp", "2")], "lookup.cache.bloom.filter.fpp"),
        (&[("lookup.cache-spill-compression", "tar")], "tar"),
        (&[("spill-compression", "tar")], "spill-compression"),
        (&[("dynamic-bucket.target-row-num", "0")], "dynamic-bucket.target-row-num"),
        (&[("dynamic-bucket.initial-buckets", "-1")], "dynamic-bucket.initial-buckets"),
        (&[("dynamic-bucket.max-buckets", "-2")], "dynamic-bucket.max-buckets"),
        (&[("postpone.target-size-per-bucket", "0 b")], "postpone.target-size-per-bucket"),
        (&[("record-level.expire-time", "1 d")], "record-level.time-field"),
        (&[("file.compression", "tar")], "file.compression"),
        (&[("file.compression.per.level", "0:zstd,5:tar")], "file.compression"),
        (&[("file.compression.per.level", "top:zstd")], "file.compression.per.level"),
        (&[("file.format", "avro"), ("file.compression", "lzo")], "lzo"),
        (&[("changelog-file.format", "orc"), ("changelog-file.compression", "lzo")], "lzo"),
        (&[("parquet.writer.version", "v9")], "parquet.writer.version"),
        (&[("metadata.stats-mode", "some")], "some"),
        (&[("fields.v.stats-mode", "some")], "some"),
        (&[("metadata.stats-mode.per.level", "0:some")], "some"),
        (&[("file-index.guess.columns", "v")], "guess"),
        (&[("file-index.bitmap.columns", "arr")], "index"),
        (&[("file-index.bloom-filter.columns", "v"), ("file-index.bloom-filter.v.items", "many")], "many"),
        (&[("file-index.bsi.columns", "n,v")], "column: v"),
        (&[("file-index.range-bitmap.columns", "v,arr")], "column: arr"),
        (&[("file-index.range-bitmap.columns", "v"), ("file-index.range-bitmap.v.chunk-size", "3 gb")], "3 gb"),
        (&[("file-index.range-bitmap.columns", "v"), ("file-index.range-bitmap.n.chunk-size", "1 kb")], "column: n"),
        (&[("file-index.bitmap.columns", "v[a]")], "column: v[a]"),
    ];
    for (pairs, part) in cases {
        let Err(error) = keyed(pairs) else { panic!("{pairs:?} was not refused") };
        assert!(error.to_string().contains(part) && error.hint().is_some(), "{pairs:?}: {error}");
    }
}

#[test]
fn bucket_functions_are_of_keys_that_they_take() {
    let hive = |sql: &str, bucket: &str| {
        let new = NewTable {
            columns: vec![column("t", sql), column("v", "INT")],
            primary_keys: vec!["t".into()],
            options: options(&[("bucket", bucket), ("bucket-function.type", "hive")]),
            ..NewTable::default()
        };
        TableSchema::create(new, 0)
    };
    for sql in ["TIMESTAMP(3)", "TIMESTAMP(9) WITH LOCAL TIME ZONE"] {
        refused(hive(sql, "2"), &["hive", sql]);
        hive(sql, "-1").unwrap();
    }
    for sql in ["BOOLEAN", "TINYINT", "DOUBLE", "DECIMAL(38, 3)", "CHAR(3)", "BYTES", "DATE", "TIME(3)"] {
        hive(sql, "2").unwrap();
    }
}

#[test]
fn options_that_fit_a_keyed_table_are_taken() {
    for pairs in [
        &[("bucket", "-2")][..],
        &[
            ("merge-engine", "aggregation"),
            ("fields.n.aggregate-function", "sum"),
            ("fields.default-aggregate-function", "last_value"),
        ],
        &[
            ("merge-engine", "partial-update"),
            ("fields.n.sequence-group", "v,d"),
            ("fields.d.aggregate-function", "sum"),
        ],
        &[("merge-engine", "partial-update"), ("fields.v.aggregate-function", "last_non_null_value")],
        &[("changelog-producer", "lookup"), ("deletion-vectors.enabled", "true"), ("sequence.field", " n , d")],
        &[("fields.v.stats-mode", "none"), ("custom.key", "kept")],
    ] {
        keyed(pairs).unwrap();
    }
}

#[test]
fn columns_and_keys_that_cannot_be_are_refused() {
    let create = |columns: &[(&str, &str)], keys: &[&str], partition: &[&str], pairs: &[(&str, &str)]| {
        let table = NewTable {
            columns: columns.iter().map(|(name, sql)| column(name, sql)).collect(),
            primary_keys: keys.iter().map(|&k| k.into()).collect(),
            partition_keys: partition.iter().map(|&k| k.into()).collect(),
            options: options(pairs),
            comment: None,
        };
        TableSchema::create(table, 0)
    };
    refused(create(&[], &[], &[], &[]), &["column"]);
    refused(create(&[("a", "INT"), ("a", "INT")], &[], &[], &[]), &["\"a\"", "twice"]);
    for name in ["_KEY_x", "_SEQUENCE_NUMBER", "_VALUE_KIND", "_LEVEL", "rowkind", "_ROW_ID"] {
        refused(create(&[(name, "INT")], &[], &[], &[]), &[name, "reserved"]);
    }
    refused(create(&[("a", "INT")], &["b"], &[], &[]), &["\"b\""]);
    refused(create(&[("a", "INT")], &["a", "a"], &[], &[]), &["\"a\"", "twice"]);
    refused(create(&[("a", "ARRAY<INT>"), ("b", "INT")], &["a"], &[], &[]), &["\"a\"", "ARRAY<INT>"]);
    refused(create(&[("a", "INT"), ("b", "INT")], &["a"], &["a"], &[]), &["primary key"]);
    refused(create(&[("a", "INT"), ("p", "INT")], &["a"], &["p"], &[("bucket", "2")]), &["dynamic"]);
    create(&[("a", "INT"), ("p", "INT")], &["a"], &["p"], &[]).unwrap();
    refused(create(&[("a", "INT")], &[], &[], &[("bucket", "2")]), &["bucket-key"]);
    refused(create(&[("a", "INT")], &[], &[], &[("bucket", "-2")]), &["bucket"]);
    refused(
        create(&[("a", "INT"), ("p", "INT")], &[], &["p"], &[("bucket", "2"), ("bucket-key", "p")]),
        &["partition", "p"],
    );
    refused(create(&[("a", "INT")], &[], &[], &[("changelog-producer", "input")]), &["primary key"]);
    refused(create(&[("a", "TIMESTAMP(9)")], &[], &[], &[("file.format", "avro")]), &["avro", "\"a\""]);
    refused(create(&[("a", "INT")], &["a"], &[], &[("primary-key", "a")]), &["primary-key"]);
    refused(create(&[("a", "INT"), ("b", "BLOB")], &[], &[], &[]), &["data-evolution.enabled"]);
}
