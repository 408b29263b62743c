//! Files in a query: `'a.parquet'` and `read_csv('a.csv', header = false)` where a table may stand.

use datafusion::sql::sqlparser::ast::{
    BinaryOperator, Expr, FunctionArg, FunctionArgExpr, TableFactor, TableFunctionArgs, UnaryOperator, Value,
};
use linn::format::suggest::did_you_mean;
use linn::{Error, Result};

use super::options::{FileFormat, FileOptions};

/// Files with what is said about them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileCall {
    /// Paths, folders and patterns.
    pub(crate) paths: Vec<String>,
    /// How they are read.
    pub(crate) options: FileOptions,
    /// What the table is called without an alias.
    pub(crate) name: String,
}

/// The functions that read files.
const FUNCTIONS: [(&str, FileFormat); 10] = [
    ("read_parquet", FileFormat::Parquet),
    ("parquet_scan", FileFormat::Parquet),
    ("read_csv", FileFormat::Csv),
    ("read_csv_auto", FileFormat::Csv),
    ("read_json", FileFormat::Json),
    ("read_json_auto", FileFormat::Json),
    ("read_ndjson", FileFormat::Json),
    ("read_arrow", FileFormat::Arrow),
    ("read_orc", FileFormat::Orc),
    ("read_avro", FileFormat::Avro),
];

/// The names of the functions that read files.
pub(crate) const FUNCTION_NAMES: [&str; 6] =
    ["read_parquet", "read_csv", "read_json", "read_arrow", "read_orc", "read_avro"];

/// The files that a factor of FROM means, if it does.
///
/// # Errors
/// What is wrong with the arguments.
pub(crate) fn called(factor: &TableFactor) -> Result<Option<FileCall>> {
    let TableFactor::Table { name, args, .. } = factor else { return Ok(None) };
    let [part] = name.0.as_slice() else { return Ok(None) };
    let Some(ident) = part.as_ident() else { return Ok(None) };
    match (args, ident.quote_style) {
        (None, Some('\'')) => named(&ident.value).map(Some),
        (Some(arguments), None) => function(&ident.value, arguments),
        _ => Ok(None),
    }
}

/// A file whose name tells its format.
///
/// # Errors
/// `Invalid` for a name that tells none.
pub(crate) fn named(path: &str) -> Result<FileCall> {
    if FileFormat::of_path(path).is_none() {
        return Err(Error::invalid("the format of the file is not known from its name")
            .with("path", path)
            .with_hint(format!("give it: FROM read_csv('{path}'), or another of {}", FUNCTION_NAMES.join(", "))));
    }
    Ok(FileCall { paths: vec![path.to_owned()], options: FileOptions::default(), name: stem(path) })
}

/// The name of a file without folders and endings.
fn stem(path: &str) -> String {
    let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or(path);
    name.split('.').next().unwrap_or(name).to_owned()
}

fn function(name: &str, arguments: &TableFunctionArgs) -> Result<Option<FileCall>> {
    let small = name.to_ascii_lowercase();
    let Some((_, format)) = FUNCTIONS.iter().find(|(known, _)| *known == small) else {
        if small.starts_with("read_") {
            let hint = did_you_mean(&small, FUNCTIONS.iter().map(|(name, _)| *name));
            return Err(Error::unsupported(format!("the table function {name}"))
                .with_hint(hint.unwrap_or_else(|| format!("files are read by {}", FUNCTION_NAMES.join(", ")))));
        }
        return Ok(None);
    };
    let mut options = FileOptions { format: Some(*format), ..FileOptions::default() };
    let mut paths = None;
    for argument in &arguments.args {
        match assignment(argument)? {
            (None, value) if paths.is_none() => paths = Some(texts(value)?),
            (None, _) => return Err(Error::invalid(format!("{small} takes the files, then options as name = value"))),
            (Some(key), value) if key == "columns" || key == "types" => columns(&mut options, value)?,
            (Some(key), _) if key == "format" => return Err(Error::invalid(format!("{small} does not take a format"))),
            (Some(key), value) => options.set(&key, &scalar(value)?)?,
        }
    }
    let paths = paths.filter(|paths| !paths.is_empty());
    let paths = paths.ok_or_else(|| Error::invalid(format!("{small} needs a path: {small}('file')")))?;
    Ok(Some(FileCall { paths, options, name: small }))
}

/// An argument as its name, if it has one, and its value: `value`, `name => value` or `name = value`.
fn assignment(argument: &FunctionArg) -> Result<(Option<String>, &Expr)> {
    let wrong = || Error::invalid(format!("{argument} is not an argument of a function that reads files"));
    match argument {
        FunctionArg::Named { name, arg, .. } => Ok((Some(name.value.to_ascii_lowercase()), value_of(arg, wrong)?)),
        FunctionArg::ExprNamed { name: Expr::Identifier(name), arg, .. } => {
            Ok((Some(name.value.to_ascii_lowercase()), value_of(arg, wrong)?))
        }
        FunctionArg::ExprNamed { .. } => Err(wrong()),
        FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::BinaryOp { left, op: BinaryOperator::Eq, right })) => {
            match &**left {
                Expr::Identifier(name) => Ok((Some(name.value.to_ascii_lowercase()), right)),
                _ => Err(wrong()),
            }
        }
        FunctionArg::Unnamed(arg) => Ok((None, value_of(arg, wrong)?)),
    }
}

fn value_of(argument: &FunctionArgExpr, wrong: impl Fn() -> Error) -> Result<&Expr> {
    match argument {
        FunctionArgExpr::Expr(value) => Ok(value),
        _ => Err(wrong()),
    }
}

/// A literal as text.
fn scalar(value: &Expr) -> Result<String> {
    match value {
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) | Value::DoubleQuotedString(text) => Ok(text.clone()),
            Value::Number(digits, _) => Ok(digits.clone()),
            Value::Boolean(value) => Ok(value.to_string()),
            other => Err(Error::invalid(format!("{other} is not a text, a number, true or false"))),
        },
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => Ok(format!("-{}", scalar(expr)?)),
        Expr::Identifier(name) => Ok(name.value.clone()),
        other => Err(Error::invalid(format!("{other} is not a text, a number, true or false"))),
    }
}

/// A text or a list of texts.
fn texts(value: &Expr) -> Result<Vec<String>> {
    match value {
        Expr::Array(array) => array.elem.iter().map(text).collect(),
        other => Ok(vec![text(other)?]),
    }
}

fn text(value: &Expr) -> Result<String> {
    match value {
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) => Ok(text.clone()),
            other => Err(Error::invalid(format!("{other} is not a path in single quotes"))),
        },
        other => Err(Error::invalid(format!("{other} is not a path in single quotes"))),
    }
}

/// `{'a': 'INT', 'b': 'STRING'}`.
fn columns(options: &mut FileOptions, value: &Expr) -> Result<()> {
    let Expr::Dictionary(fields) = value else {
        return Err(Error::invalid(format!("columns = {value} is not of the form {{'name': 'TYPE', …}}")));
    };
    fields.iter().try_for_each(|field| options.set_column(&field.key.value, &scalar(&field.value)?))
}

#[cfg(test)]
mod tests {
    use datafusion::sql::sqlparser::ast::{SetExpr, Statement};
    use datafusion::sql::sqlparser::parser::Parser;

    use super::*;
    use crate::parse::DIALECT;

    fn one(from: &str) -> Result<Option<FileCall>> {
        let parsed = Parser::parse_sql(&DIALECT, &format!("SELECT * FROM {from}")).unwrap().remove(0);
        let Statement::Query(query) = parsed else { panic!("no query") };
        let SetExpr::Select(select) = *query.body else { panic!("no select") };
        called(&select.from[0].relation)
    }

    #[test]
    fn files_and_functions_are_told_from_tables() {
        let found = one("'dir/a.csv.gz'").unwrap().unwrap();
        assert_eq!((found.name.as_str(), found.paths), ("a", vec!["dir/a.csv.gz".to_owned()]));
        for from in [
            "read_csv(['a', 'b'], header = false, delim => '|', columns = {'x': 'INT', 'y': 'REAL'})",
            "READ_CSV(['a', 'b'], header := false, sep = '|', columns => {'x': 'INT4', 'y': 'FLOAT'})",
        ] {
            let found = one(from).unwrap().unwrap();
            assert_eq!(found.paths, ["a", "b"]);
            assert!(!found.options.header);
            assert_eq!(found.options.delimiter, Some(b'|'));
            let types: Vec<String> = found.options.columns.iter().map(|f| f.data_type.to_string()).collect();
            assert_eq!(types, ["INT", "FLOAT"]);
        }
        assert!(one("t").unwrap().is_none() && one("generate_series(1, 2)").unwrap().is_none());
        for from in ["'a.txt'", "read_csv()", "read_csv('a', 'b')", "read_csv('a', nothing = 1)", "read_cvs('a')"] {
            assert!(one(from).is_err(), "{from}");
        }
    }
}
