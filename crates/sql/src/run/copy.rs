//! COPY: rows of a query to a file, and rows of files to a table.

use std::sync::Arc;

use datafusion::sql::sqlparser::ast::Statement as Ast;
use datafusion::sql::sqlparser::tokenizer::TokenWithSpan;
use linn::format::suggest::did_you_mean;
use linn::format::types::DataField;
use linn::{Error, Result};

use super::change::open_target;
use super::insert;
use super::query::{frame, parse};
use super::text_tokens;
use crate::error::ours;
use crate::file::{self, FileCall, FileFormat, FileOptions};
use crate::parse::{Insert, TableOptions};
use crate::session::{Output, Session, stream};

/// The options of COPY as those of files.
fn options(given: &[(String, String)]) -> Result<FileOptions> {
    let mut options = FileOptions::default();
    given.iter().try_for_each(|(key, value)| options.set(key, value))?;
    Ok(options)
}

/// Writes the rows of a query to a file.
pub(super) async fn to(
    session: &Session,
    query: Vec<TokenWithSpan>,
    path: &str,
    given: &[(String, String)],
    tables: &TableOptions,
) -> Result<Output> {
    let options = options(given)?;
    let ast = parse(query)?;
    if !matches!(ast, Ast::Query(_)) {
        return Err(Error::invalid("COPY takes rows from a table or a query"));
    }
    let frame = frame(session, ast, tables).await?;
    let schema = Arc::clone(frame.schema().inner());
    let rows = stream(frame.execute_stream().await.map_err(ours)?);
    let written = file::write(session.stores(), session.catalog().options(), path, &options, schema, rows).await?;
    Ok(Output::wrote("Copied", written, format_args!("to {path}")))
}

/// Inserts the rows of files into a table.
pub(super) async fn from(
    session: &Session,
    name: Vec<String>,
    columns: Vec<String>,
    path: &str,
    given: &[(String, String)],
    tables: &TableOptions,
) -> Result<Output> {
    let options = options(given)?;
    let table = open_target(session, &name, tables).await?;
    let fields = &table.schema().fields;
    let wanted = match columns.as_slice() {
        [] => fields.iter().collect(),
        columns => columns.iter().map(|name| named(fields, name)).collect::<Result<Vec<_>>>()?,
    };
    let format = options.format.or_else(|| FileFormat::of_path(path)).ok_or_else(|| {
        Error::invalid("the format of the file is not known from its name")
            .with("path", path)
            .with_hint("give it: COPY … FROM '…' (FORMAT csv)")
    })?;
    let look = FileOptions { format: Some(format), texts: true, sample: Some(1_000), ..options.clone() };
    let call = FileCall { paths: vec![path.to_owned()], options: look, name: "file".to_owned() };
    let found = file::open(session.context(), session.stores(), session.catalog().options(), &call).await?.schema();
    let found: Vec<&str> = found.fields().iter().map(|field| field.name().as_str()).collect();
    let targets =
        targets(&found, &wanted, options.header || format != FileFormat::Csv).map_err(|e| e.with("path", path))?;
    let call = function(format, path, &options, &found, &targets);
    let query = text_tokens(&format!("SELECT * FROM {call}"));
    let columns = targets.iter().map(|field| field.name.clone()).collect();
    let insert = Insert { table: name, overwrite: false, partition: Vec::new(), columns, query };
    insert::insert(session, insert, tables).await
}

fn named<'f>(fields: &'f [DataField], name: &str) -> Result<&'f DataField> {
    fields.iter().find(|field| field.name == name).ok_or_else(|| {
        let error = Error::invalid("the table has no such column").with("column", name);
        match did_you_mean(name, fields.iter().map(|field| field.name.as_str())) {
            Some(hint) => error.with_hint(hint),
            None => error,
        }
    })
}

/// The column of the table that each column of the file goes to: that of its name; that of its place where no name of the file
/// is one of the table.
fn targets<'f>(found: &[&str], wanted: &[&'f DataField], names: bool) -> Result<Vec<&'f DataField>> {
    let by_name = |name: &&str| wanted.iter().find(|field| field.name == **name).copied();
    if names && found.iter().any(|name| by_name(name).is_some()) {
        let target = |name: &&str| {
            by_name(name).ok_or_else(|| {
                let known = wanted.iter().map(|field| field.name.as_str());
                let hint = did_you_mean(name, known).unwrap_or_else(|| {
                    format!("copy some of the columns: INSERT INTO … SELECT … FROM the file, without {name}")
                });
                Error::invalid("the file has a column that the table does not have")
                    .with("column", name)
                    .with_hint(hint)
            })
        };
        return found.iter().map(target).collect();
    }
    if found.len() != wanted.len() {
        let columns: Vec<&str> = wanted.iter().map(|field| field.name.as_str()).collect();
        return Err(Error::invalid(format!("the file has {} columns for {}", found.len(), wanted.len()))
            .with("columns of the file", found.join(", "))
            .with("columns", columns.join(", ")));
    }
    Ok(wanted.to_vec())
}

/// The call that reads the file: text in the types of the table.
fn function(format: FileFormat, path: &str, options: &FileOptions, found: &[&str], targets: &[&DataField]) -> String {
    let name = match format {
        FileFormat::Parquet => return format!("read_parquet({})", text(path)),
        FileFormat::Arrow => return format!("read_arrow({})", text(path)),
        FileFormat::Orc => return format!("read_orc({})", text(path)),
        FileFormat::Avro => return format!("read_avro({})", text(path)),
        FileFormat::Csv => "read_csv",
        FileFormat::Json => "read_json",
    };
    // Whether a null may be in a column is for the table to say.
    let columns = found.iter().zip(targets).map(|(name, field)| {
        format!("{}: {}", text(name), text(&field.data_type.clone().with_nullable(true).to_string()))
    });
    let mut call = format!("{name}({}, columns = {{{}}}", text(path), columns.collect::<Vec<_>>().join(", "));
    if let Some(compression) = &options.compression {
        call.push_str(&format!(", compression = {}", text(compression)));
    }
    if format == FileFormat::Csv {
        let byte = |byte: u8| text(&char::from(byte).to_string());
        call.push_str(&format!(
            ", header = {}, quote = {}, nullstr = {}",
            options.header,
            byte(options.quote),
            text(&options.null)
        ));
        for (key, value) in [("delim", options.delimiter), ("escape", options.escape)] {
            if let Some(value) = value {
                call.push_str(&format!(", {key} = {}", byte(value)));
            }
        }
    }
    call.push(')');
    call
}

fn text(value: &str) -> String {
    format!("'{}'", value.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use linn::format::types::{DataType, Kind};

    use super::*;

    #[test]
    fn columns_go_by_name_else_by_place() {
        let field = |name: &str| DataField::new(0, name, DataType::nullable(Kind::Int));
        let (a, b) = (field("a"), field("b"));
        let check = |found: &[&str], names, expected: Option<&str>| {
            let targets = targets(found, &[&a, &b], names);
            let shown = targets.map(|t| t.iter().map(|f| f.name.as_str()).collect::<String>());
            assert_eq!(shown.ok().as_deref(), expected, "{found:?}");
        };
        check(&["b", "a"], true, Some("ba"));
        check(&["b"], true, Some("b"));
        check(&["x", "y"], true, Some("ab"));
        check(&["b", "a"], false, Some("ab"));
        check(&["a", "x"], true, None);
        check(&["x"], true, None);
    }
}
