//! A schema and changes make the next schema (spec: format.md C.3; features.md B10).
//!
//! Pure: whether the table has data comes in as a fact, and the caller writes the result.

use super::column::{check_free, field_at, insert_index, last, move_field, siblings, type_at};
use super::create::normalize;
use super::default::check_default;

use super::{Position, SCHEMA_VERSION, SchemaChange, TableSchema, option, rename, validate, writable};
use crate::cast::can_cast;
use crate::options::table::general as table_options;
use crate::types::{DataField, DataType, Kind, assign_nested_ids};
use crate::{Error, Result, ResultExt, SchemaId};

/// The schema that follows `schema` when `changes` are made in order; validated as a whole. The table
/// `has_snapshot` when data may exist, which rules out more.
///
/// # Errors
/// `Invalid`, `NotFound` or `AlreadyExists` naming the column or option and what to do.
pub fn apply(
    schema: &TableSchema,
    changes: &[SchemaChange],
    has_snapshot: bool,
    now_millis: i64,
) -> Result<TableSchema> {
    let id = schema.id.0.checked_add(1).ok_or_else(|| Error::invalid("the schema ids are used up"))?;
    let mut next = schema.clone();
    for change in changes {
        apply_one(&mut next, change, has_snapshot)?;
    }
    next.version = SCHEMA_VERSION;
    next.id = SchemaId(id);
    next.time_millis = now_millis;
    normalize(&mut next)?;
    validate(&next)?;
    if writable::check(schema).is_ok() {
        writable::check(&next)?;
    }
    Ok(next)
}

fn apply_one(schema: &mut TableSchema, change: &SchemaChange, has_snapshot: bool) -> Result<()> {
    match change {
        SchemaChange::SetOption { key, value } => option::set(schema, key, value, has_snapshot),
        SchemaChange::RemoveOption { key } => option::remove(schema, key, has_snapshot),
        SchemaChange::UpdateComment { comment } => {
            schema.comment.clone_from(comment);
            Ok(())
        }
        SchemaChange::AddColumn { path, data_type, description, position } => {
            add_column(schema, path, data_type, description.as_deref(), position.as_ref())
        }
        SchemaChange::RenameColumn { path, new_name } => rename_column(schema, path, new_name),
        SchemaChange::DropColumn { path } => drop_column(schema, path),
        SchemaChange::UpdateColumnType { path, new_type, keep_nullability } => {
            update_type(schema, path, new_type, *keep_nullability)
        }
        SchemaChange::UpdateColumnNullability { path, nullable } => update_nullability(schema, path, *nullable),
        SchemaChange::UpdateColumnComment { path, comment } => {
            field_at(&mut schema.fields, path)?.description.clone_from(comment);
            Ok(())
        }
        SchemaChange::UpdateColumnDefault { path, default } => {
            let field = field_at(&mut schema.fields, path)?;
            if let Some(text) = default {
                check_default(&field.data_type, text).context("column", path.join("."))?;
            }
            field.default_value.clone_from(default);
            Ok(())
        }
        SchemaChange::UpdateColumnPosition { name, position } => move_field(&mut schema.fields, name, position),
        SchemaChange::DropPrimaryKey if has_snapshot => {
            Err(Error::invalid("the primary key of a table with data cannot be dropped")
                .with_hint("make a new table and copy the rows"))
        }
        SchemaChange::DropPrimaryKey => {
            schema.primary_keys.clear();
            Ok(())
        }
    }
}

fn add_column(
    schema: &mut TableSchema,
    path: &[String],
    data_type: &DataType,
    description: Option<&str>,
    position: Option<&Position>,
) -> Result<()> {
    if !data_type.nullable {
        return Err(Error::invalid(format!(
            "new column {:?} cannot be NOT NULL: old rows have no value",
            path.join(".")
        ))
        .with_hint("add it as nullable"));
    }
    let before_partition = path.len() == 1 && schema.options.is_on(&table_options::ADD_COLUMN_BEFORE_PARTITION)?;
    let mut highest = schema.highest_field_id;
    // The id of the column comes before those inside of it, as when a table is made.
    let mut column = DataField::new(0, last(path)?, data_type.clone());
    column.description = description.map(str::to_owned);
    let column = crate::types::assign_ids(vec![column], &mut highest)?.pop();
    let column = column.ok_or_else(|| Error::internal("an added column got lost"))?;
    let partition_keys = schema.partition_keys.clone();
    let fields = siblings(&mut schema.fields, path)?;
    check_free(fields, &column.name)?;
    let index = match position {
        Some(position) => insert_index(fields, position)?,
        None if before_partition => {
            fields.iter().position(|f| partition_keys.contains(&f.name)).unwrap_or(fields.len())
        }
        None => fields.len(),
    };
    fields.insert(index, column);
    schema.highest_field_id = highest;
    Ok(())
}

fn rename_column(schema: &mut TableSchema, path: &[String], new_name: &str) -> Result<()> {
    refuse_partition(schema, path, "renamed")?;
    refuse_indexed(schema, path, "renamed")?;
    let old = last(path)?;
    let fields = siblings(&mut schema.fields, path)?;
    let index = fields.iter().position(|f| f.name == old);
    let index = index.ok_or_else(|| Error::not_found(format!("column {:?} does not exist", path.join("."))))?;
    check_free(fields, new_name)?;
    let field = fields.get_mut(index).ok_or_else(|| Error::internal("a column got lost"))?;
    if path.len() == 1 && field.data_type.kind == Kind::Blob {
        return Err(Error::invalid(format!("BLOB column {old:?} cannot be renamed")));
    }
    field.name = new_name.to_owned();
    if path.len() == 1 {
        rename::in_keys(&mut schema.primary_keys, old, new_name);
        let others: Vec<&str> =
            schema.fields.iter().map(|f| f.name.as_str()).filter(|name| *name != new_name).collect();
        rename::in_options(&mut schema.options, old, new_name, &others);
    }
    Ok(())
}

fn drop_column(schema: &mut TableSchema, path: &[String]) -> Result<()> {
    refuse_partition(schema, path, "dropped")?;
    refuse_primary_key(schema, path, "dropped")?;
    refuse_indexed(schema, path, "dropped")?;
    field_at(&mut schema.fields, path)?;
    let name = last(path)?;
    let fields = siblings(&mut schema.fields, path)?;
    if fields.len() == 1 {
        return Err(Error::invalid(format!("{:?} is the last one and cannot be dropped", path.join(".")))
            .with_hint("add another one first"));
    }
    fields.retain(|field| field.name != name);
    Ok(())
}

fn update_type(schema: &mut TableSchema, path: &[String], new_type: &DataType, keep_nullability: bool) -> Result<()> {
    refuse_partition(schema, path, "retyped")?;
    refuse_primary_key(schema, path, "retyped")?;
    refuse_indexed(schema, path, "retyped")?;
    let explicit = !schema.options.is_on(&table_options::DISABLE_EXPLICIT_TYPE_CASTING)?;
    let strict = schema.options.is_on(&table_options::ALTER_COLUMN_NULL_TO_NOT_NULL_DISABLED)?;
    let mut highest = schema.highest_field_id;
    let name = path.join(".");
    let old = type_at(&mut schema.fields, path)?;
    let mut new = assign_nested_ids(new_type.clone(), &mut highest)?;
    if keep_nullability {
        new.nullable = old.nullable;
    } else {
        refuse_narrowing(old.nullable, new.nullable, strict, &name)?;
    }
    let blob = path.len() == 1 && (old.kind == Kind::Blob || new.kind == Kind::Blob);
    if blob || !can_cast(old, &new, explicit) {
        return Err(Error::invalid(format!("column {name:?} of type {old} cannot become {new}"))
            .with_hint("add a new column of that type and copy the values"));
    }
    *old = new;
    schema.highest_field_id = highest;
    check_carried_default(schema, path)
}

/// The default value of a retyped column stays, so it must be a value of the new type.
fn check_carried_default(schema: &mut TableSchema, path: &[String]) -> Result<()> {
    for end in 1..=path.len() {
        let prefix = path.get(..end).unwrap_or(path);
        let Ok(field) = field_at(&mut schema.fields, prefix) else { continue };
        if let Some(text) = &field.default_value {
            check_default(&field.data_type, text)
                .map_err(|e| e.with("column", prefix.join(".")).with_hint("change or drop the default value first"))?;
        }
    }
    Ok(())
}

fn update_nullability(schema: &mut TableSchema, path: &[String], nullable: bool) -> Result<()> {
    if nullable {
        refuse_primary_key(schema, path, "made nullable")?;
    }
    let strict = schema.options.is_on(&table_options::ALTER_COLUMN_NULL_TO_NOT_NULL_DISABLED)?;
    let target = type_at(&mut schema.fields, path)?;
    refuse_narrowing(target.nullable, nullable, strict, &path.join("."))?;
    target.nullable = nullable;
    Ok(())
}

fn refuse_narrowing(old: bool, new: bool, strict: bool, name: &str) -> Result<()> {
    if strict && old && !new {
        return Err(Error::invalid(format!("column {name:?} cannot become NOT NULL: old rows may hold null"))
            .with_hint("set \"alter-column-null-to-not-null.disabled\" = \"false\" if none does"));
    }
    Ok(())
}

fn refuse_partition(schema: &TableSchema, path: &[String], done: &str) -> Result<()> {
    match path {
        [name] if schema.partition_keys.contains(name) => {
            Err(Error::invalid(format!("partition column {name:?} cannot be {done}"))
                .with_hint("make a new table and copy the rows"))
        }
        _ => Ok(()),
    }
}

fn refuse_primary_key(schema: &TableSchema, path: &[String], done: &str) -> Result<()> {
    match path {
        [name] if schema.primary_keys.contains(name) => {
            Err(Error::invalid(format!("primary key column {name:?} cannot be {done}"))
                .with_hint("make a new table and copy the rows"))
        }
        _ => Ok(()),
    }
}

/// Columns of primary-key indexes keep their name and type.
fn refuse_indexed(schema: &TableSchema, path: &[String], done: &str) -> Result<()> {
    let [name] = path else { return Ok(()) };
    for (key, value) in schema.options.iter() {
        let indexes = key.starts_with("pk-") && key.ends_with(".index.columns");
        if indexes && crate::options::parse_list(value).contains(&name.as_str()) {
            return Err(Error::invalid(format!("column {name:?} is named by {key:?} and cannot be {done}"))
                .with_hint(format!("remove it from {key:?} first")));
        }
    }
    Ok(())
}
