//! What Java refuses to define, Linn refuses; what Java takes, Linn takes, says that it cannot, or refuses because the table
//! would fail later.

use linn_format::schema::{NewTable, SchemaChange, TableSchema, apply};
use linn_format::types::{DataField, DataType};
use linn_format::{ErrorKind, Result};
use linn_testkit::peer::{Peer, Place};
use serde_json::{Value, json};

type Options = &'static [(&'static str, &'static str)];

/// Columns that every table has.
const COLUMNS: &[(&str, &str)] = &[
    ("k", "INT NOT NULL"),
    ("p", "STRING NOT NULL"),
    ("v", "INT"),
    ("w", "INT"),
    ("s", "STRING"),
    ("g", "BIGINT"),
    ("h", "BIGINT"),
    ("b", "BYTES"),
    ("t", "TIMESTAMP(6)"),
    ("e", "BOOLEAN"),
    ("x", "DOUBLE"),
    ("n", "INT NOT NULL"),
];

/// Primary key and partition columns.
type Keys = (&'static [&'static str], &'static [&'static str]);
const KEYED: Keys = (&["k"], &[]);
const APPEND: Keys = (&[], &[]);
const PARTED: Keys = (&["k", "p"], &["p"]);
const CROSSED: Keys = (&["k"], &["p"]);

const FIRST: (&str, &str) = ("merge-engine", "first-row");
const PARTIAL: (&str, &str) = ("merge-engine", "partial-update");
const AGGREGATE: (&str, &str) = ("merge-engine", "aggregation");
const LOOKUP: (&str, &str) = ("changelog-producer", "lookup");
const FULL: (&str, &str) = ("changelog-producer", "full-compaction");
const INPUT: (&str, &str) = ("changelog-producer", "input");
const VECTORS: (&str, &str) = ("deletion-vectors.enabled", "true");
const ONE: (&str, &str) = ("bucket", "1");

const DEFINITIONS: &[(Keys, Options)] = &[
    (KEYED, &[]),
    (APPEND, &[]),
    (PARTED, &[]),
    (CROSSED, &[]),
    (KEYED, &[ONE]),
    (KEYED, &[("bucket", "0")]),
    (KEYED, &[("bucket", "-2")]),
    (KEYED, &[("bucket", "-3")]),
    (APPEND, &[("bucket", "-2")]),
    (APPEND, &[("bucket", "2")]),
    (APPEND, &[("bucket", "2"), ("bucket-key", "k")]),
    (APPEND, &[("bucket", "2"), ("bucket-key", "nope")]),
    (APPEND, &[("bucket-key", "k")]),
    (KEYED, &[ONE, ("bucket-key", "v")]),
    (KEYED, &[ONE, ("bucket-key", "k")]),
    (PARTED, &[ONE, ("bucket-key", "p")]),
    (PARTED, &[ONE, ("bucket-key", "k,p")]),
    (KEYED, &[ONE, ("merge-engine", "nope")]),
    (APPEND, &[AGGREGATE]),
    (APPEND, &[PARTIAL]),
    // first-row
    (KEYED, &[ONE, FIRST]),
    (KEYED, &[ONE, FIRST, ("sequence.field", "v")]),
    (KEYED, &[ONE, FIRST, LOOKUP]),
    (KEYED, &[ONE, FIRST, FULL]),
    (KEYED, &[ONE, FIRST, INPUT]),
    (KEYED, &[ONE, FIRST, VECTORS]),
    // partial-update
    (KEYED, &[ONE, PARTIAL]),
    (KEYED, &[ONE, PARTIAL, LOOKUP]),
    (KEYED, &[ONE, PARTIAL, FULL]),
    (KEYED, &[ONE, PARTIAL, INPUT]),
    (KEYED, &[ONE, PARTIAL, VECTORS]),
    (KEYED, &[ONE, PARTIAL, ("sequence.field", "v")]),
    (KEYED, &[ONE, PARTIAL, ("fields.v.aggregate-function", "sum")]),
    (KEYED, &[ONE, PARTIAL, ("fields.v.aggregate-function", "last_non_null_value")]),
    (KEYED, &[ONE, PARTIAL, ("fields.default-aggregate-function", "sum")]),
    (KEYED, &[ONE, PARTIAL, ("fields.g.sequence-group", "v,w")]),
    (KEYED, &[ONE, PARTIAL, ("fields.g.sequence-group", "v,w"), ("fields.v.aggregate-function", "sum")]),
    (KEYED, &[ONE, PARTIAL, ("fields.g.sequence-group", "v,w"), ("fields.s.aggregate-function", "sum")]),
    (KEYED, &[ONE, PARTIAL, ("fields.g.sequence-group", "v,w"), ("fields.v.aggregate-function", "nope")]),
    (KEYED, &[ONE, PARTIAL, ("fields.g,h.sequence-group", "v,w")]),
    (KEYED, &[ONE, PARTIAL, ("fields.g.sequence-group", "v"), ("fields.h.sequence-group", "v")]),
    (KEYED, &[ONE, PARTIAL, ("fields.g.sequence-group", "v"), ("fields.h.sequence-group", "g")]),
    (KEYED, &[ONE, PARTIAL, ("fields.g.sequence-group", "g")]),
    (KEYED, &[ONE, PARTIAL, ("fields.g.sequence-group", "v,v")]),
    (KEYED, &[ONE, PARTIAL, ("fields.g.sequence-group", "nope")]),
    (KEYED, &[ONE, PARTIAL, ("fields.nope.sequence-group", "v")]),
    (KEYED, &[ONE, PARTIAL, ("fields.g.sequence-group", "k")]),
    (KEYED, &[ONE, PARTIAL, ("fields.k.sequence-group", "v")]),
    (KEYED, &[ONE, PARTIAL, ("fields.g.sequence-group", "")]),
    (KEYED, &[ONE, PARTIAL, ("fields.g.sequence-group", "v, w")]),
    (KEYED, &[ONE, PARTIAL, ("fields.g, h.sequence-group", "v,w")]),
    (KEYED, &[ONE, ("sequence.field", "v, w")]),
    (PARTED, &[ONE, ("bucket-key", " k")]),
    (KEYED, &[ONE, PARTIAL, ("ignore-delete", "true"), ("partial-update.remove-record-on-delete", "true")]),
    (KEYED, &[ONE, PARTIAL, ("fields.g.sequence-group", "v"), ("partial-update.remove-record-on-delete", "true")]),
    (KEYED, &[ONE, PARTIAL, ("fields.g.sequence-group", "v"), ("ignore-delete", "true")]),
    (KEYED, &[ONE, PARTIAL, ("fields.g.sequence-group", "v"), ("partial-update.remove-record-on-sequence-group", "g")]),
    (KEYED, &[ONE, PARTIAL, ("fields.g.sequence-group", "v"), ("partial-update.remove-record-on-sequence-group", "h")]),
    (KEYED, &[ONE, PARTIAL, ("partial-update.remove-record-on-sequence-group", "g")]),
    (
        KEYED,
        &[
            ONE,
            PARTIAL,
            ("fields.g.sequence-group", "v"),
            ("partial-update.remove-record-on-sequence-group", "g"),
            ("partial-update.remove-record-on-delete", "true"),
        ],
    ),
    // aggregation
    (KEYED, &[ONE, AGGREGATE]),
    (KEYED, &[ONE, AGGREGATE, LOOKUP]),
    (KEYED, &[ONE, AGGREGATE, FULL]),
    (KEYED, &[ONE, AGGREGATE, INPUT]),
    (KEYED, &[ONE, AGGREGATE, VECTORS]),
    (KEYED, &[ONE, AGGREGATE, ("fields.v.aggregate-function", "sum")]),
    (KEYED, &[ONE, AGGREGATE, ("fields.v.aggregate-function", "nope")]),
    (KEYED, &[ONE, AGGREGATE, ("fields.nope.aggregate-function", "sum")]),
    (KEYED, &[ONE, AGGREGATE, ("fields.k.aggregate-function", "sum")]),
    (KEYED, &[ONE, AGGREGATE, ("fields.s.aggregate-function", "sum")]),
    (KEYED, &[ONE, AGGREGATE, ("fields.s.aggregate-function", "product")]),
    (KEYED, &[ONE, AGGREGATE, ("fields.e.aggregate-function", "max")]),
    (KEYED, &[ONE, AGGREGATE, ("fields.b.aggregate-function", "max")]),
    (KEYED, &[ONE, AGGREGATE, ("fields.v.aggregate-function", "listagg")]),
    (KEYED, &[ONE, AGGREGATE, ("fields.v.aggregate-function", "bool_and")]),
    (KEYED, &[ONE, AGGREGATE, ("fields.v.aggregate-function", "collect")]),
    (KEYED, &[ONE, AGGREGATE, ("fields.v.aggregate-function", "merge_map")]),
    (KEYED, &[ONE, AGGREGATE, ("fields.v.aggregate-function", "nested_update")]),
    (KEYED, &[ONE, AGGREGATE, ("fields.v.aggregate-function", "rbm32")]),
    (KEYED, &[ONE, AGGREGATE, ("fields.s.aggregate-function", "hll_sketch")]),
    (KEYED, &[ONE, AGGREGATE, ("fields.v.aggregate-function", "theta_sketch")]),
    (KEYED, &[ONE, AGGREGATE, ("fields.b.aggregate-function", "rbm64")]),
    (KEYED, &[ONE, AGGREGATE, ("fields.v.aggregate-function", "first_not_null_value")]),
    (KEYED, &[ONE, AGGREGATE, ("fields.default-aggregate-function", "max")]),
    (KEYED, &[ONE, AGGREGATE, ("fields.default-aggregate-function", "nope")]),
    (KEYED, &[ONE, AGGREGATE, ("sequence.field", "g")]),
    (KEYED, &[ONE, AGGREGATE, ("sequence.field", "g"), ("fields.g.aggregate-function", "sum")]),
    (KEYED, &[ONE, AGGREGATE, ("aggregation.remove-record-on-delete", "true")]),
    (KEYED, &[ONE, AGGREGATE, ("aggregation.remove-record-on-delete", "true"), ("ignore-delete", "true")]),
    (KEYED, &[ONE, AGGREGATE, ("aggregation.remove-record-on-delete", "true"), ("fields.v.ignore-retract", "true")]),
    // sequence.field
    (KEYED, &[ONE, ("sequence.field", "v")]),
    (KEYED, &[ONE, ("sequence.field", "v,w")]),
    (KEYED, &[ONE, ("sequence.field", "v,v")]),
    (KEYED, &[ONE, ("sequence.field", "nope")]),
    (KEYED, &[ONE, ("sequence.field", "k")]),
    (KEYED, &[ONE, ("sequence.field", "s")]),
    (KEYED, &[ONE, ("sequence.field", "v"), ("fields.v.aggregate-function", "sum")]),
    (KEYED, &[ONE, ("sequence.field", "v"), ("sequence.field.sort-order", "sideways")]),
    (APPEND, &[("sequence.field", "v")]),
    (CROSSED, &[("sequence.field", "v")]),
    // changelogs
    (KEYED, &[ONE, LOOKUP]),
    (KEYED, &[ONE, FULL]),
    (KEYED, &[ONE, INPUT]),
    (KEYED, &[ONE, ("changelog-producer", "nope")]),
    (KEYED, &[ONE, LOOKUP, ("full-compaction.delta-commits", "2")]),
    (KEYED, &[ONE, FULL, ("full-compaction.delta-commits", "2")]),
    (APPEND, &[LOOKUP]),
    (APPEND, &[INPUT]),
    (KEYED, &[ONE, ("changelog-producer.row-deduplicate", "true")]),
    (KEYED, &[ONE, INPUT, ("changelog-producer.row-deduplicate", "true")]),
    (KEYED, &[ONE, LOOKUP, ("changelog-producer.row-deduplicate-ignore-fields", "nope")]),
    // vectors
    (KEYED, &[ONE, VECTORS]),
    (KEYED, &[ONE, VECTORS, LOOKUP]),
    (KEYED, &[ONE, VECTORS, FULL]),
    (KEYED, &[ONE, VECTORS, INPUT]),
    (KEYED, &[VECTORS]),
    (CROSSED, &[VECTORS]),
    (KEYED, &[("bucket", "-2"), VECTORS]),
    (APPEND, &[VECTORS]),
    (APPEND, &[("bucket", "2"), ("bucket-key", "k"), VECTORS]),
    // keys across partitions; with other buckets Java makes tables whose keys are unique in a partition only
    (CROSSED, &[("bucket", "-1")]),
    (CROSSED, &[PARTIAL]),
    (CROSSED, &[AGGREGATE]),
    (CROSSED, &[FIRST]),
    // row kinds
    (KEYED, &[ONE, ("rowkind.field", "s")]),
    (KEYED, &[ONE, ("rowkind.field", "v")]),
    (KEYED, &[ONE, ("rowkind.field", "nope")]),
    (APPEND, &[("rowkind.field", "s")]),
    // expiry
    (KEYED, &[ONE, ("snapshot.num-retained.min", "5"), ("snapshot.num-retained.max", "3")]),
    (KEYED, &[ONE, ("snapshot.num-retained.min", "0")]),
    (KEYED, &[ONE, ("changelog.num-retained.min", "5"), ("changelog.num-retained.max", "3")]),
    (KEYED, &[ONE, ("changelog.num-retained.min", "0")]),
    (KEYED, &[ONE, ("snapshot.time-retained", "soon")]),
    (KEYED, &[ONE, ("partition.expiration-time", "1 d")]),
    (PARTED, &[ONE, ("partition.expiration-time", "1 d")]),
    (PARTED, &[ONE, ("partition.expiration-time", "1 d"), ("partition.expiration-strategy", "nope")]),
    (KEYED, &[ONE, ("record-level.expire-time", "1 d")]),
    (KEYED, &[ONE, ("record-level.expire-time", "1 d"), ("record-level.time-field", "v")]),
    (KEYED, &[ONE, ("record-level.expire-time", "1 d"), ("record-level.time-field", "t")]),
    (KEYED, &[ONE, ("record-level.expire-time", "1 d"), ("record-level.time-field", "nope")]),
    (KEYED, &[ONE, ("record-level.expire-time", "1 d"), ("record-level.time-field", "s")]),
    (KEYED, &[ONE, ("record-level.expire-time", "1 d"), ("record-level.time-field", "n")]),
    // files and sizes
    (KEYED, &[ONE, ("file.format", "nope")]),
    (KEYED, &[ONE, ("file.format.per.level", "0:avro,5:orc")]),
    (KEYED, &[ONE, ("target-file-size", "big")]),
    (KEYED, &[ONE, ("num-sorted-run.compaction-trigger", "many")]),
    (KEYED, &[ONE, ("num-levels", "1")]),
    (KEYED, &[ONE, ("metadata.stats-mode", "nope")]),
    (KEYED, &[ONE, ("fields.v.stats-mode", "nope")]),
    (KEYED, &[ONE, ("file-index.bloom-filter.columns", "nope")]),
    (KEYED, &[ONE, ("file-index.bloom-filter.columns", "v")]),
    // reading
    (KEYED, &[ONE, ("scan.mode", "nope")]),
    (KEYED, &[ONE, ("scan.mode", "from-snapshot")]),
    (KEYED, &[ONE, ("scan.mode", "from-timestamp")]),
    (KEYED, &[ONE, ("scan.mode", "latest"), ("scan.snapshot-id", "3")]),
    (KEYED, &[ONE, ("scan.snapshot-id", "3"), ("scan.tag-name", "x")]),
    (KEYED, &[ONE, ("scan.mode", "incremental")]),
    (KEYED, &[ONE, ("incremental-between", "3")]),
    // others
    (KEYED, &[ONE, ("write-only", "perhaps")]),
    (KEYED, &[ONE, ("tag.automatic-creation", "nope")]),
    (KEYED, &[ONE, ("tag.creation-period", "nope")]),
    (KEYED, &[ONE, ("local-merge-buffer-size", "1 mb"), FULL]),
    (KEYED, &[ONE, ("primary-key", "k")]),
    (KEYED, &[ONE, ("type", "nope")]),
];

const CHANGES: &[(Keys, Options, (&str, &str))] = &[
    (KEYED, &[ONE], ("merge-engine", "aggregation")),
    (KEYED, &[ONE], ("sequence.field", "v")),
    (KEYED, &[ONE], ("bucket-key", "k")),
    (KEYED, &[ONE], ("bucket", "2")),
    (KEYED, &[ONE], ("bucket", "-1")),
    (KEYED, &[], ("bucket", "2")),
    (KEYED, &[ONE], ("bucket", "0")),
    (KEYED, &[ONE], ("bucket", "-2")),
    (KEYED, &[ONE], ("changelog-producer", "lookup")),
    (KEYED, &[ONE, LOOKUP], ("full-compaction.delta-commits", "3")),
    (KEYED, &[ONE], ("deletion-vectors.enabled", "true")),
    (KEYED, &[ONE, VECTORS], ("deletion-vectors.enabled", "false")),
    (KEYED, &[ONE], ("ignore-delete", "true")),
    (KEYED, &[ONE], ("rowkind.field", "s")),
    (KEYED, &[ONE, PARTIAL], ("fields.g.sequence-group", "v")),
    (KEYED, &[ONE, PARTIAL], ("partial-update.remove-record-on-delete", "true")),
    (KEYED, &[ONE, PARTIAL], ("fields.v.aggregate-function", "sum")),
    (KEYED, &[ONE, AGGREGATE], ("fields.v.aggregate-function", "sum")),
    (KEYED, &[ONE, AGGREGATE], ("fields.v.aggregate-function", "nope")),
    (KEYED, &[ONE, AGGREGATE], ("aggregation.remove-record-on-delete", "true")),
    (KEYED, &[ONE], ("primary-key", "v")),
    (KEYED, &[ONE], ("partition", "p")),
    (KEYED, &[ONE], ("path", "/elsewhere")),
    (KEYED, &[ONE], ("file.format", "avro")),
    (KEYED, &[ONE], ("file.format", "nope")),
    (KEYED, &[ONE], ("snapshot.num-retained.max", "1")),
    (KEYED, &[ONE], ("bucket-function.type", "mod")),
    (KEYED, &[ONE], ("manifest.format", "nope")),
    (KEYED, &[ONE], ("num-levels", "3")),
    (APPEND, &[], ("row-tracking.enabled", "true")),
    (APPEND, &[], ("deletion-vectors.enabled", "true")),
    (APPEND, &[], ("bucket", "2")),
];

/// What Java takes and fails at when rows come, or takes for something else.
const ONLY_JAVA: &[(&str, &str)] = &[
    ("fields.g.sequence-group", "g"),
    ("fields.g.sequence-group", "k"),
    ("fields.k.sequence-group", "v"),
    ("fields.s.aggregate-function", "sum"),
    ("fields.s.aggregate-function", "product"),
    ("fields.v.aggregate-function", "listagg"),
    ("fields.v.aggregate-function", "bool_and"),
    ("fields.v.aggregate-function", "collect"),
    ("fields.v.aggregate-function", "merge_map"),
    ("fields.v.aggregate-function", "nested_update"),
    ("fields.v.aggregate-function", "rbm32"),
    ("fields.v.aggregate-function", "theta_sketch"),
    ("fields.s.aggregate-function", "hll_sketch"),
    ("fields.v.ignore-retract", "true"),
    ("sequence.field.sort-order", "sideways"),
    ("full-compaction.delta-commits", "2"),
    ("full-compaction.delta-commits", "3"),
    ("rowkind.field", "v"),
    ("snapshot.time-retained", "soon"),
    ("target-file-size", "big"),
    ("num-sorted-run.compaction-trigger", "many"),
    ("file-index.bloom-filter.columns", "nope"),
    ("record-level.expire-time", "1 d"),
    ("metadata.stats-mode", "nope"),
    ("fields.v.stats-mode", "nope"),
    ("write-only", "perhaps"),
    ("tag.automatic-creation", "nope"),
    ("tag.creation-period", "nope"),
    ("path", "/elsewhere"),
];

fn definition((primary, partition): Keys, options: Options) -> Value {
    let field = |(id, (name, sql)): (usize, &(&str, &str))| json!({ "id": id, "name": name, "type": sql });
    let options: serde_json::Map<_, _> = options.iter().map(|(k, v)| ((*k).to_owned(), json!(v))).collect();
    json!({
        "fields": COLUMNS.iter().enumerate().map(field).collect::<Vec<_>>(),
        "partitionKeys": partition,
        "primaryKeys": primary,
        "options": options,
    })
}

fn linn((primary, partition): Keys, options: Options) -> Result<TableSchema> {
    let field = |(id, (name, sql)): (i32, &(&str, &str))| Ok(DataField::new(id, *name, DataType::parse(sql)?));
    let new = NewTable {
        columns: (0..).zip(COLUMNS).map(field).collect::<Result<_>>()?,
        primary_keys: primary.iter().map(|n| (*n).to_owned()).collect(),
        partition_keys: partition.iter().map(|n| (*n).to_owned()).collect(),
        options: options.iter().copied().collect(),
        ..NewTable::default()
    };
    TableSchema::create(new, 0)
}

/// How the two differ about a table whose last option this is, if they do.
fn difference<T>(
    last: Option<&(&str, &str)>,
    linn: &Result<T>,
    java: &std::result::Result<(), String>,
) -> Option<String> {
    match (linn, java) {
        (Ok(_), Ok(())) | (Err(_), Err(_)) => None,
        (Err(e), Ok(())) if e.kind() == ErrorKind::Unsupported => None,
        (Err(_), Ok(())) if last.is_some_and(|last| ONLY_JAVA.contains(last)) => None,
        (Ok(_), Err(e)) => Some(format!("Linn takes it, Java says {}", e.lines().next().unwrap_or_default())),
        (Err(e), Ok(())) => Some(format!("Java takes it, Linn says {e}")),
    }
}

#[test]
fn tables_are_defined() {
    let Some(mut java) = Peer::java() else { return };
    let warehouse = tempfile::tempdir().unwrap();
    let mut differing = Vec::new();
    for (at, (keys, options)) in DEFINITIONS.iter().enumerate() {
        let place = Place::local(warehouse.path(), "db", &format!("t{at}"));
        let theirs = java.create(&place, &definition(*keys, options));
        differing.extend(
            difference(options.last(), &linn(*keys, options), &theirs).map(|d| format!("{keys:?} {options:?}: {d}")),
        );
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

#[test]
fn options_are_changed() {
    let Some(mut java) = Peer::java() else { return };
    let warehouse = tempfile::tempdir().unwrap();
    let row = json!({ "k": 1, "p": "a", "v": 1, "w": 1, "s": "+I", "g": 1, "h": 1, "n": 1 });
    let mut differing = Vec::new();
    for (at, (keys, options, (key, value))) in CHANGES.iter().enumerate() {
        let place = Place::local(warehouse.path(), "db", &format!("t{at}"));
        java.create(&place, &definition(*keys, options)).unwrap();
        java.write(&place, std::slice::from_ref(&row)).unwrap();
        let theirs = java.alter(&place, &json!([["set", key, value]]));
        let change = SchemaChange::SetOption { key: (*key).to_owned(), value: (*value).to_owned() };
        let ours = linn(*keys, options).and_then(|schema| apply(&schema, &[change], true, 0));
        differing.extend(
            difference(Some(&(*key, *value)), &ours, &theirs)
                .map(|d| format!("{keys:?} {options:?}, {key} = {value}: {d}")),
        );
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}
