//! `linn table read`: a query of one table, written for the SQL session.

use linn::{ErrorKind, Identifier, Result};
use linn_sql::{Output, quoted};

use super::show_result;
use crate::args::ReadArgs;
use crate::config::key_value;
use crate::context::{Context, DATABASE, identifier};

pub(super) async fn run(context: &Context, args: &ReadArgs) -> Result<()> {
    show_result(context, executed(context, args).await?).await.map(|_| ())
}

/// The rows that these flags ask for.
///
/// # Errors
/// As [`query`], and those of the query. A table that does not exist is said as by other commands, without the place in a query
/// that nobody wrote.
pub(super) async fn executed(context: &Context, args: &ReadArgs) -> Result<Output> {
    match context.session(DATABASE)?.execute(&query(args)?).await {
        Err(e) if e.kind() == ErrorKind::NotFound => {
            let id = identifier(&args.table)?;
            if id.system.is_none() {
                context.catalog()?.table(&id).await?;
            }
            Err(e)
        }
        other => other,
    }
}

/// The query that these flags mean.
///
/// # Errors
/// `Invalid` for what is no table name or no option.
pub(super) fn query(args: &ReadArgs) -> Result<String> {
    let columns = match args.select.as_slice() {
        [] => "*".to_owned(),
        names => names.iter().map(|name| quoted(name.trim())).collect::<Vec<_>>().join(", "),
    };
    let mut sql = format!("SELECT {columns} FROM {}", name(&identifier(&args.table)?));
    let options: Vec<String> =
        options(args)?.iter().map(|(key, value)| format!("{} = {}", text(key), text(value))).collect();
    if !options.is_empty() {
        sql.push_str(&format!(" OPTIONS({})", options.join(", ")));
    }
    if let Some(filter) = &args.filter {
        // On a line of its own, so that a comment at its end hides nothing.
        sql.push_str(&format!(" WHERE (\n{filter}\n)"));
    }
    if let Some(limit) = args.limit {
        sql.push_str(&format!(" LIMIT {limit}"));
    }
    Ok(sql)
}

/// The table's options for this read, with the time travel among them.
pub(super) fn options(args: &ReadArgs) -> Result<Vec<(String, String)>> {
    let mut options = Vec::new();
    for pair in &args.options {
        let (key, value) = key_value(pair)?;
        options.push((key.to_owned(), value.to_owned()));
    }
    options.extend(args.at.option().map(|(key, value)| (key.to_owned(), value)));
    Ok(options)
}

/// A table's name in SQL.
pub(super) fn name(id: &Identifier) -> String {
    let whole = id.to_string();
    let object = whole.strip_prefix(&format!("{}.", id.database)).unwrap_or(&whole).to_owned();
    format!("{}.{}", quoted(&id.database), quoted(&object))
}

/// A text in SQL.
pub(super) fn text(value: &str) -> String {
    format!("'{}'", value.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::AsOf;

    fn args() -> ReadArgs {
        ReadArgs {
            table: "db.t$files".into(),
            select: vec!["a".into(), "b\"".into()],
            filter: Some("a > 1".into()),
            limit: Some(3),
            at: AsOf { snapshot: Some(7), ..AsOf::default() },
            options: vec!["x=it's".into()],
        }
    }

    #[test]
    fn names_and_values_are_quoted() {
        let want = "SELECT \"a\", \"b\"\"\" FROM \"db\".\"t$files\" OPTIONS('x' = 'it''s', 'scan.snapshot-id' = '7') \
                    WHERE (\na > 1\n) LIMIT 3";
        assert_eq!(query(&args()).unwrap(), want);
    }

    #[test]
    fn times_are_numbers_or_text() {
        let at = |time: &str| {
            let at = AsOf { timestamp: Some(time.into()), ..AsOf::default() };
            options(&ReadArgs { at, options: vec![], ..args() })
        };
        assert_eq!(at("17").unwrap()[0].0, "scan.timestamp-millis");
        assert_eq!(at("2020-01-01").unwrap()[0].0, "scan.timestamp");
    }
}
