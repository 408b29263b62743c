//! Finding columns and fields inside of columns, to change them.

use super::Position;
use crate::types::{DataField, DataType, Kind};
use crate::{Error, Result};

/// The fields among which the last name of `path` is, or would be.
pub(super) fn siblings<'a>(fields: &'a mut Vec<DataField>, path: &[String]) -> Result<&'a mut Vec<DataField>> {
    match path {
        [] => Err(Error::invalid("a column path is empty")),
        [_] => Ok(fields),
        [name, rest @ ..] => siblings_inside(&mut find(fields, name)?.data_type, name, rest),
    }
}

fn siblings_inside<'a>(t: &'a mut DataType, parent: &str, path: &[String]) -> Result<&'a mut Vec<DataField>> {
    match (&mut t.kind, path) {
        (Kind::Row(fields), _) => siblings(fields, path),
        (Kind::Array(inner), [name, rest @ ..]) if name == "element" && !rest.is_empty() => {
            siblings_inside(inner, name, rest)
        }
        (Kind::Map(_, inner), [name, rest @ ..]) if name == "value" && !rest.is_empty() => {
            siblings_inside(inner, name, rest)
        }
        _ => Err(no_fields(parent)),
    }
}

/// The column or field at `path`.
pub(super) fn field_at<'a>(fields: &'a mut Vec<DataField>, path: &[String]) -> Result<&'a mut DataField> {
    let name = last(path)?;
    find(siblings(fields, path)?, name)
}

/// The type at `path`, which may be the element of an array or the value of a map.
pub(super) fn type_at<'a>(fields: &'a mut [DataField], path: &[String]) -> Result<&'a mut DataType> {
    match path {
        [] => Err(Error::invalid("a column path is empty")),
        [name, rest @ ..] => type_inside(&mut find(fields, name)?.data_type, name, rest),
    }
}

fn type_inside<'a>(t: &'a mut DataType, parent: &str, path: &[String]) -> Result<&'a mut DataType> {
    let Some((name, rest)) = path.split_first() else { return Ok(t) };
    match &mut t.kind {
        Kind::Row(fields) => type_at(fields, path),
        Kind::Array(inner) if name == "element" => type_inside(inner, name, rest),
        Kind::Map(_, inner) if name == "value" => type_inside(inner, name, rest),
        _ => Err(no_fields(parent)),
    }
}

/// The last name of a path.
pub(super) fn last(path: &[String]) -> Result<&str> {
    path.last().map(String::as_str).ok_or_else(|| Error::invalid("a column path is empty"))
}

fn find<'a>(fields: &'a mut [DataField], name: &str) -> Result<&'a mut DataField> {
    fields.iter_mut().find(|field| field.name == name).ok_or_else(|| missing(name))
}

fn missing(name: &str) -> Error {
    Error::new(crate::ErrorKind::NotFound, format!("column {name:?} does not exist"))
        .with_hint("see the columns of the table")
}

fn no_fields(name: &str) -> Error {
    Error::invalid(format!("{name:?} has no such field inside of it"))
        .with_hint("name fields of a ROW, \"element\" of an ARRAY or \"value\" of a MAP")
}

/// Refuses a name that is among the fields.
pub(super) fn check_free(fields: &[DataField], name: &str) -> Result<()> {
    if name.is_empty() {
        return Err(Error::invalid("a column needs a name"));
    }
    if fields.iter().any(|field| field.name == name) {
        return Err(Error::already_exists(format!("column {name:?} exists already")).with_hint("choose another name"));
    }
    Ok(())
}

/// Where a field goes that is not among `fields`.
pub(super) fn insert_index(fields: &[DataField], position: &Position) -> Result<usize> {
    let index_of = |name: &String| fields.iter().position(|f| f.name == *name).ok_or_else(|| missing(name));
    match position {
        Position::First => Ok(0),
        Position::Last => Ok(fields.len()),
        Position::Before(name) => index_of(name),
        Position::After(name) => Ok(index_of(name)?.saturating_add(1)),
    }
}

/// Moves a field to another place among its siblings.
pub(super) fn move_field(fields: &mut Vec<DataField>, name: &str, position: &Position) -> Result<()> {
    let from = fields.iter().position(|field| field.name == name).ok_or_else(|| missing(name))?;
    if matches!(position, Position::Before(other) | Position::After(other) if other == name) {
        return Err(
            Error::invalid(format!("column {name:?} cannot be moved next to itself")).with_hint("name another column")
        );
    }
    let field = fields.remove(from);
    match insert_index(fields, position) {
        Ok(to) => fields.insert(to, field),
        Err(e) => {
            fields.insert(from, field);
            return Err(e);
        }
    }
    Ok(())
}
