//! Merge engines, sequence fields and groups, aggregate functions (spec: features.md B2, B3; case M14).

use std::collections::HashMap;

use super::{bare_names, invalid, known_column};
use crate::options::table::key;
use crate::options::{MergeEngine, parse_list};
use crate::schema::TableSchema;
use crate::types::{DataField, DataType, Kind};
use crate::{Error, Result};

/// `sequence.field` names columns that can order records.
pub(super) fn sequence_field(schema: &TableSchema) -> Result<()> {
    let names = schema.options.sequence_fields();
    if schema.options.snapshot_ordering()? {
        snapshot_ordering(schema, &names)?;
    }
    for (i, name) in names.iter().enumerate() {
        let field = known_column(schema, name, "sequence.field")?;
        if names.iter().take(i).any(|other| other == name) {
            return Err(invalid(format!("\"sequence.field\" names {name:?} twice"), "name it once"));
        }
        if schema.options.field_aggregate(name).is_some() {
            return Err(invalid(
                format!("column {name:?} is a sequence field and cannot have an aggregate function"),
                format!("remove \"fields.{name}.aggregate-function\""),
            ));
        }
        if !is_comparable(&field.data_type) {
            return Err(invalid(
                format!("\"sequence.field\" names {name:?} of type {}, which has no order", field.data_type),
                "name a column of a plain type",
            ));
        }
    }
    if names.is_empty() {
        return Ok(());
    }
    if schema.options.merge_engine()? == MergeEngine::FirstRow {
        return Err(invalid("\"sequence.field\" cannot be used with merge engine first-row", "remove it"));
    }
    if schema.is_cross_partition() {
        return Err(invalid(
            "\"sequence.field\" cannot be used when the primary key lacks partition columns",
            "remove it, or add the partition columns to the primary key",
        ));
    }
    Ok(())
}

fn snapshot_ordering(schema: &TableSchema, sequence: &[&str]) -> Result<()> {
    let key = "sequence.snapshot-ordering";
    if !schema.is_primary_key_table() {
        return Err(invalid(format!("{key:?} needs a primary key"), "remove it"));
    }
    if !sequence.is_empty() {
        return Err(invalid(format!("{key:?} and \"sequence.field\" exclude each other"), "remove one of them"));
    }
    if schema.options.bucket()? == -2 {
        // Placing rows is a commit of its own, which would take the place of the snapshots they came with.
        return Err(Error::unsupported(format!("{key:?} with postponed buckets"))
            .with_hint("give the table a number of buckets, or \"bucket\" = \"-1\""));
    }
    if !schema.options.write_only()? {
        return Err(invalid(
            format!("{key:?} needs \"write-only\" = \"true\""),
            "set it, and compact in a job of its own",
        ));
    }
    Ok(())
}

/// The options of the merge engine fit each other and the columns.
pub(super) fn engine(schema: &TableSchema) -> Result<()> {
    if !schema.is_primary_key_table() {
        return Ok(());
    }
    match schema.options.merge_engine()? {
        MergeEngine::Deduplicate | MergeEngine::FirstRow => Ok(()),
        MergeEngine::PartialUpdate => {
            let protected = sequence_groups(schema)?;
            partial_update_deletes(schema, !protected.is_empty())?;
            aggregates(schema, Some(&protected))
        }
        MergeEngine::Aggregate => {
            let remove = schema.options.is_on(&key::AGGREGATION_REMOVE_RECORD_ON_DELETE)?;
            for field in schema.fields.iter().filter(|_| remove) {
                if schema
                    .options
                    .of_field(&field.name, "ignore-retract")
                    .is_some_and(|v| v.eq_ignore_ascii_case("true"))
                {
                    return Err(invalid(
                        format!(
                            "\"fields.{}.ignore-retract\" and \"aggregation.remove-record-on-delete\" exclude each other",
                            field.name
                        ),
                        "remove one of them",
                    ));
                }
            }
            aggregates(schema, None)
        }
    }
}

/// The role of each column of sequence groups: true for protected ones, false for those that order.
fn sequence_groups(schema: &TableSchema) -> Result<HashMap<String, bool>> {
    let mut roles: HashMap<String, bool> = HashMap::new();
    for (key, value) in schema.options.iter() {
        if let Some(ordering) = key.strip_prefix("fields.").and_then(|rest| rest.strip_suffix(".sequence-group")) {
            bare_names(key, ordering)?;
            bare_names(key, value)?;
        }
    }
    for (ordering, protected) in schema.options.sequence_groups() {
        let option = format!("fields.{}.sequence-group", ordering.join(","));
        let all = ordering.iter().map(|name| (name, false)).chain(protected.iter().map(|name| (name, true)));
        for (name, is_protected) in all {
            let field = known_column(schema, name, &option)?;
            if schema.primary_keys.iter().any(|key| key == name) {
                return Err(invalid(
                    format!("option {option:?} names primary key column {name:?}"),
                    "leave primary key columns out of sequence groups",
                ));
            }
            if !is_protected && !is_comparable(&field.data_type) {
                return Err(invalid(
                    format!("option {option:?} orders by {name:?} of type {}, which has no order", field.data_type),
                    "order by columns of plain types",
                ));
            }
            if roles.insert((*name).to_owned(), is_protected).is_some() {
                return Err(invalid(format!("column {name:?} is in several sequence groups"), "leave it in one"));
            }
        }
    }
    Ok(roles)
}

/// Options that say what a delete does exclude each other.
fn partial_update_deletes(schema: &TableSchema, has_groups: bool) -> Result<()> {
    let options = &schema.options;
    let remove = options.is_on(&key::PARTIAL_UPDATE_REMOVE_RECORD_ON_DELETE)?;
    let by_group = options.text(&key::PARTIAL_UPDATE_REMOVE_RECORD_ON_SEQUENCE_GROUP);
    let ignore = options.ignore_delete()?;
    let (delete, group) = ("partial-update.remove-record-on-delete", "partial-update.remove-record-on-sequence-group");
    let conflict = if ignore && remove {
        Some(("ignore-delete", delete))
    } else if ignore && by_group.is_some() {
        Some(("ignore-delete", group))
    } else if remove && has_groups {
        Some((delete, "fields.<columns>.sequence-group"))
    } else {
        None
    };
    if let Some((one, other)) = conflict {
        return Err(invalid(format!("options {one:?} and {other:?} exclude each other"), "remove one of them"));
    }
    let groups = options.sequence_groups();
    by_group.map_or(Ok(()), |names| bare_names(group, names))?;
    for name in by_group.map(parse_list).unwrap_or_default() {
        if !groups.iter().any(|(ordering, _)| ordering.contains(&name)) {
            return Err(invalid(
                format!("option {group:?} names {name:?}, which orders no sequence group"),
                "name a column that orders a sequence group",
            ));
        }
    }
    Ok(())
}

/// Each aggregate function exists and takes the type of its column; with partial-update it needs a sequence group.
fn aggregates(schema: &TableSchema, groups: Option<&HashMap<String, bool>>) -> Result<()> {
    let sequence = schema.options.sequence_fields();
    for field in &schema.fields {
        // The last sequence of the whole record stands where all columns are aggregated; elsewhere it is a column like others.
        let orders = groups.is_none() && sequence.contains(&field.name.as_str());
        if schema.primary_keys.contains(&field.name) || orders {
            continue;
        }
        function_options(schema, field)?;
        let Some(function) = schema.options.aggregate_of(&field.name) else { continue };
        let role = groups.map(|groups| groups.get(&field.name).copied());
        if role == Some(Some(false)) {
            continue;
        }
        check_function(field, function)?;
        nested(schema, field, function)?;
        key_time(schema, field, function)?;
        if role == Some(None) && function != "last_non_null_value" {
            return Err(invalid(
                format!("column {:?} has aggregate function {function:?} but is in no sequence group", field.name),
                "add it to a \"fields.<columns>.sequence-group\"",
            ));
        }
    }
    Ok(())
}

fn check_function(field: &DataField, function: &str) -> Result<()> {
    let kind = &field.data_type.kind;
    let fits = match function {
        "sum" | "product" => is_numeric(kind),
        "max" | "min" => is_comparable(&field.data_type),
        "last_value"
        | "last_non_null_value"
        | "first_value"
        | "first_non_null_value"
        | "first_not_null_value"
        | "primary-key" => true,
        "listagg" => field.data_type.kind == DataType::string().kind,
        "bool_and" | "bool_or" => *kind == Kind::Boolean,
        "collect" => matches!(kind, Kind::Array(_)),
        "merge_map" => matches!(kind, Kind::Map(..)),
        "merge_map_with_keytime" => {
            matches!(kind, Kind::Map(_, value) if matches!(&value.kind, Kind::Row(fields) if fields.len() >= 2))
        }
        "nested_update" | "nested_partial_update" => {
            matches!(kind, Kind::Array(element) if matches!(element.kind, Kind::Row(_)))
        }
        "theta_sketch" | "hll_sketch" | "rbm32" | "rbm64" => matches!(kind, Kind::Varbinary(_)),
        other => {
            return Err(invalid(
                format!("column {:?} has aggregate function {other:?}, which does not exist", field.name),
                "use one of the aggregate functions in the documentation",
            ));
        }
    };
    if fits {
        return Ok(());
    }
    Err(invalid(
        format!("aggregate function {function:?} does not take column {:?} of type {}", field.name, field.data_type),
        "choose a function for that type",
    ))
}

/// What the options of a function say can be read.
fn function_options(schema: &TableSchema, field: &DataField) -> Result<()> {
    let of = |option: &str| schema.options.of_field(&field.name, option).map(|value| (option.to_owned(), value.trim()));
    let wrong = |option: &str, value: &str, hint: &str| {
        let message = format!("option \"fields.{}.{option}\" cannot be {value:?}", field.name);
        Err(invalid(message, hint))
    };
    let is_one_of = |value: &str, words: &[&str]| words.iter().any(|word| value.eq_ignore_ascii_case(word));
    for (option, value) in ["ignore-retract", "distinct"].into_iter().filter_map(of) {
        if !is_one_of(value, &["true", "false"]) {
            return wrong(&option, value, "set it to true or false");
        }
    }
    match of("nested-key-null-strategy") {
        Some((option, value)) if !is_one_of(value, &["merge", "ignore", "error"]) => {
            return wrong(&option, value, "set it to merge, ignore or error");
        }
        _ => {}
    }
    match of("count-limit") {
        Some((option, value)) if !value.parse::<i32>().is_ok_and(|limit| limit >= 0) => {
            wrong(&option, value, "set it to a number of rows")
        }
        _ => Ok(()),
    }
}

/// The times of `merge_map_with_keytime` are a text in the rows of the map.
fn key_time(schema: &TableSchema, field: &DataField, function: &str) -> Result<()> {
    let (Kind::Map(_, value), "merge_map_with_keytime") = (&field.data_type.kind, function) else { return Ok(()) };
    let Kind::Row(row) = &value.kind else { return Ok(()) };
    let named = schema.options.of_field(&field.name, "ts-field");
    let time = match named {
        Some(name) => row.iter().find(|f| f.name == name),
        None => row.last(),
    };
    match (time, named) {
        (Some(time), _) if matches!(time.data_type.kind, Kind::Char(_) | Kind::Varchar(_)) => Ok(()),
        (Some(time), _) => Err(invalid(
            format!("the times of column {:?} are field {:?} of type {}", field.name, time.name, time.data_type),
            format!("name a STRING field in \"fields.{}.ts-field\"", field.name),
        )),
        (None, named) => Err(invalid(
            format!("the rows of column {:?} have no field {:?} for their time", field.name, named.unwrap_or_default()),
            "name a field of the rows",
        )),
    }
}

/// Options of nested tables name fields of their rows, and those that say more of the key need one.
fn nested(schema: &TableSchema, field: &DataField, function: &str) -> Result<()> {
    let (Kind::Array(element), "nested_update" | "nested_partial_update") = (&field.data_type.kind, function) else {
        return Ok(());
    };
    let Kind::Row(row) = &element.kind else { return Ok(()) };
    let of = |option: &str| schema.options.of_field(&field.name, option);
    let (key, sequence) = (of("nested-key"), of("nested-sequence-field"));
    if key.map(parse_list).unwrap_or_default().is_empty() {
        let more =
            ["nested-key-null-strategy", "nested-sequence-field"].into_iter().find(|option| of(option).is_some());
        let what = match more {
            Some(option) => format!("option \"fields.{}.{option}\"", field.name),
            None if function == "nested_partial_update" => format!("aggregate function {function:?}"),
            None => return Ok(()),
        };
        let hint = format!("set \"fields.{}.nested-key\" as well", field.name);
        return Err(invalid(format!("{what} needs a nested key"), hint));
    }
    for name in [key, sequence].into_iter().flatten().flat_map(parse_list) {
        if !row.iter().any(|f| f.name == name) {
            return Err(invalid(
                format!("the rows of column {:?} have no field {name:?} for their key or sequence", field.name),
                "name fields of the nested row",
            ));
        }
    }
    Ok(())
}

/// Whether values have an order that all formats share.
fn is_comparable(data_type: &DataType) -> bool {
    use Kind::{Array, Blob, Map, Multiset, Row, Variant, Vector};
    !matches!(data_type.kind, Array(_) | Map(..) | Multiset(_) | Row(_) | Variant | Blob | Vector { .. })
}

fn is_numeric(kind: &Kind) -> bool {
    use Kind::{BigInt, Decimal, Double, Float, Int, SmallInt, TinyInt};
    matches!(kind, TinyInt | SmallInt | Int | BigInt | Float | Double | Decimal { .. })
}
