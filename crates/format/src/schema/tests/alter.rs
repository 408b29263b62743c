//! Changes that are allowed, and those that are refused.

use super::*;

fn alter(schema: &TableSchema, change: SchemaChange) -> crate::Result<TableSchema> {
    apply(schema, &[change], true, 9)
}

fn add(at: &str, sql: &str, position: Option<Position>) -> SchemaChange {
    SchemaChange::AddColumn { path: path(at), data_type: DataType::parse(sql).unwrap(), description: None, position }
}

fn retype(at: &str, sql: &str) -> SchemaChange {
    SchemaChange::UpdateColumnType { path: path(at), new_type: DataType::parse(sql).unwrap(), keep_nullability: true }
}

fn set(key: &str, value: &str) -> SchemaChange {
    SchemaChange::SetOption { key: key.into(), value: value.into() }
}

#[test]
fn columns_are_added_where_asked() {
    let schema = keyed(&[]).unwrap();
    let added = apply(
        &schema,
        &[
            add("first", "INT", Some(Position::First)),
            add("mid", "STRING", Some(Position::After("k".into()))),
            add("pre", "INT", Some(Position::Before("k".into()))),
            add("end", "ROW<x INT>", None),
            add("r.c", "BIGINT", None),
        ],
        true,
        9,
    )
    .unwrap();
    assert_eq!(names(&added), ["first", "pre", "k", "mid", "v", "n", "d", "arr", "r", "end"]);
    assert_eq!((added.id.0, added.highest_field_id, added.time_millis), (1, 13, 9));
    assert_eq!(added.field("end").unwrap().id, 11);
    assert_eq!(added.field("r").unwrap().data_type.to_string(), "ROW<`a` INT, `b` STRING, `c` BIGINT>");
    refused(alter(&schema, add("v", "INT", None)), &["\"v\""]);
    refused(alter(&schema, add("x", "INT NOT NULL", None)), &["\"x\"", "NOT NULL"]);
    refused(alter(&schema, add("x", "INT", Some(Position::After("nope".into())))), &["nope"]);
    refused(alter(&schema, add("v.x", "INT", None)), &["\"v\""]);
    refused(alter(&schema, add("_LEVEL", "INT", None)), &["_LEVEL"]);
}

#[test]
fn dropped_ids_do_not_come_back() {
    let schema = keyed(&[]).unwrap();
    let dropped = alter(&schema, SchemaChange::DropColumn { path: path("r") }).unwrap();
    let again = alter(&dropped, add("r", "INT", None)).unwrap();
    assert_eq!(again.field("r").unwrap().id, 8);
    refused(alter(&schema, SchemaChange::DropColumn { path: path("k") }), &["primary key", "\"k\""]);
    refused(alter(&schema, SchemaChange::DropColumn { path: path("nope") }), &["nope"]);
    let one = alter(&schema, SchemaChange::DropColumn { path: path("r.a") }).unwrap();
    refused(alter(&one, SchemaChange::DropColumn { path: path("r.b") }), &["r.b", "last"]);
}

#[test]
fn options_follow_a_renamed_column() {
    let pairs = [
        ("bucket", "1"),
        ("bucket-key", "k"),
        ("sequence.field", "d, n"),
        ("merge-engine", "aggregation"),
        ("fields.v.aggregate-function", "listagg"),
        ("fields.v.list-agg-delimiter", "n"),
        ("file-index.bitmap.columns", "n, v"),
        ("file-index.bitmap.v.version", "1"),
    ];
    let schema = keyed(&pairs).unwrap();
    let rename = |from: &str, to: &str| SchemaChange::RenameColumn { path: path(from), new_name: to.into() };
    let renamed = apply(&schema, &[rename("k", "key"), rename("n", "num"), rename("v", "val")], true, 9).unwrap();
    assert_eq!(renamed.primary_keys, ["key"]);
    let got: Vec<(&str, &str)> = renamed.options.iter().collect();
    let want = [
        ("bucket", "1"),
        ("bucket-key", "key"),
        ("fields.val.aggregate-function", "listagg"),
        ("fields.val.list-agg-delimiter", "n"),
        ("file-index.bitmap.columns", "num,val"),
        ("file-index.bitmap.val.version", "1"),
        ("merge-engine", "aggregation"),
        ("sequence.field", "d,num"),
    ];
    assert_eq!(got, want);
    refused(alter(&schema, rename("v", "n")), &["\"n\""]);
    let groups = keyed(&[("merge-engine", "partial-update"), ("fields.n,d.sequence-group", "v")]).unwrap();
    let renamed = apply(&groups, &[rename("d", "dec"), rename("v", "val")], true, 9).unwrap();
    assert_eq!(renamed.options.raw("fields.n,dec.sequence-group"), Some("val"));
}

#[test]
fn types_change_where_values_can_follow() {
    let schema = keyed(&[]).unwrap();
    assert_eq!(alter(&schema, retype("n", "BIGINT")).unwrap().field("n").unwrap().data_type.to_string(), "BIGINT");
    let nested = alter(&schema, retype("arr.element", "BIGINT")).unwrap();
    assert_eq!(nested.field("arr").unwrap().data_type.to_string(), "ARRAY<BIGINT>");
    assert_eq!(nested.field("arr").unwrap().id, schema.field("arr").unwrap().id);
    let nested = alter(&schema, retype("r.a", "BIGINT")).unwrap();
    assert_eq!(nested.field("r").unwrap().data_type.to_string(), "ROW<`a` BIGINT, `b` STRING>");
    refused(alter(&schema, retype("k", "BIGINT")), &["primary key", "\"k\""]);
    refused(alter(&schema, retype("n", "ARRAY<INT>")), &["\"n\"", "INT", "ARRAY<INT>"]);
    let strict = keyed(&[("disable-explicit-type-casting", "true")]).unwrap();
    refused(alter(&strict, retype("n", "SMALLINT")), &["SMALLINT"]);
    alter(&strict, retype("n", "BIGINT")).unwrap();
}

#[test]
fn a_default_value_must_fit_the_new_type() {
    let default =
        |at: &str, text: &str| SchemaChange::UpdateColumnDefault { path: path(at), default: Some(text.into()) };
    let schema = keyed(&[]).unwrap();
    let with = alter(&schema, default("v", "'abc'")).unwrap();
    refused(alter(&with, retype("v", "INT")), &["abc", "INT"]);
    refused(alter(&schema, default("n", "x")), &["\"x\"", "INT"]);
    refused(alter(&schema, default("d", "1234.5")), &["1234.5"]);
    let number = alter(&schema, default("n", "7")).unwrap();
    alter(&number, retype("n", "BIGINT")).unwrap();
}

#[test]
fn null_stays_allowed_unless_the_user_insists() {
    let schema = keyed(&[]).unwrap();
    let nullable = |at: &str, nullable| SchemaChange::UpdateColumnNullability { path: path(at), nullable };
    refused(alter(&schema, nullable("v", false)), &["\"v\"", "NOT NULL"]);
    refused(alter(&schema, nullable("k", true)), &["primary key", "\"k\""]);
    let free = keyed(&[("alter-column-null-to-not-null.disabled", "false")]).unwrap();
    assert!(!alter(&free, nullable("v", false)).unwrap().field("v").unwrap().data_type.nullable);
}

#[test]
fn columns_move() {
    let schema = keyed(&[]).unwrap();
    let moved = |name: &str, position| {
        let change = SchemaChange::UpdateColumnPosition { name: name.into(), position };
        alter(&schema, change).map(|s| names(&s).join(" "))
    };
    assert_eq!(moved("d", Position::First).unwrap(), "d k v n arr r");
    assert_eq!(moved("k", Position::Last).unwrap(), "v n d arr r k");
    assert_eq!(moved("k", Position::After("n".into())).unwrap(), "v n k d arr r");
    assert_eq!(moved("r", Position::Before("v".into())).unwrap(), "k r v n d arr");
    refused(moved("v", Position::After("v".into())), &["\"v\"", "itself"]);
    refused(moved("v", Position::After("nope".into())), &["nope"]);
}

#[test]
fn options_of_a_table_with_data_hold_still() {
    let schema = keyed(&[("bucket", "2"), ("ignore-delete", "true")]).unwrap();
    let remove = |key: &str| SchemaChange::RemoveOption { key: key.into() };
    refused(alter(&schema, set("merge-engine", "first-row")), &["merge-engine"]);
    alter(&schema, set("merge-engine", "Deduplicate")).unwrap();
    alter(&schema, set("bucket", "4")).unwrap();
    refused(alter(&schema, set("bucket", "-1")), &["bucket", "-1"]);
    refused(alter(&schema, remove("bucket")), &["bucket"]);
    refused(alter(&keyed(&[]).unwrap(), set("bucket", "2")), &["bucket"]);
    refused(alter(&schema, set("ignore-delete", "false")), &["ignore-delete"]);
    refused(alter(&schema, remove("ignore-delete")), &["ignore-delete"]);
    refused(alter(&schema, set("deletion-vectors.enabled", "true")), &["deletion-vectors.enabled"]);
    let free = alter(&schema, set("deletion-vectors.modifiable", "true")).unwrap();
    alter(&free, set("deletion-vectors.enabled", "true")).unwrap();
    refused(alter(&schema, set("type", "object-table")), &["type"]);
    refused(alter(&schema, SchemaChange::DropPrimaryKey), &["primary key"]);
    refused(alter(&schema, set("write-only", "perhaps")), &["write-only", "perhaps"]);
}

#[test]
fn levels_stay_where_full_compactions_tell_what_changed() {
    let trigger = set("num-sorted-run.compaction-trigger", "8");
    alter(&keyed(&[]).unwrap(), trigger.clone()).unwrap();
    let schema = keyed(&[("changelog-producer", "full-compaction")]).unwrap();
    refused(alter(&schema, trigger.clone()), &["levels", "6", "9"]);
    refused(alter(&schema, set("num-levels", "4")), &["levels", "6", "4"]);
    let fixed = alter(&schema, set("num-levels", "6")).unwrap();
    alter(&fixed, trigger).unwrap();
}

#[test]
fn options_of_an_empty_table_are_free() {
    let schema = keyed(&[]).unwrap();
    let change = |change| apply(&schema, &[change], false, 9);
    change(set("merge-engine", "first-row")).unwrap();
    change(set("bucket", "4")).unwrap();
    change(set("deletion-vectors.enabled", "true")).unwrap();
    assert!(!change(SchemaChange::DropPrimaryKey).unwrap().is_primary_key_table());
}

#[test]
fn what_writers_could_not_read_is_not_set() {
    let schema = keyed(&[]).unwrap();
    for (key, value) in [("file.compression", "tar"), ("file-index.guess.columns", "v"), ("spill-compression", "tar")] {
        let Err(error) = alter(&schema, set(key, value)) else { panic!("{key} = {value} was not refused") };
        assert!(error.hint().is_some(), "{error}");
    }
    refused(alter(&schema, set("primary-key.nullable", "true")), &["primary-key.nullable"]);
    // Of a table that is so already, other things can change.
    let mut theirs = schema;
    theirs.options.set("file-index.guess.columns", "n");
    let altered = alter(&theirs, set("snapshot.num-retained.max", "20")).unwrap();
    assert_eq!(altered.options.raw("file-index.guess.columns"), Some("n"));
}
