//! Views: CREATE, DROP.

use datafusion::sql::sqlparser::ast::Statement as Ast;
use datafusion::sql::sqlparser::tokenizer::TokenWithSpan;
use linn::{Error, Result};

use super::compute::compute;
use super::query::{frame, names, parse};
use crate::names::quoted;
use crate::parse::{NewView, mark};
use crate::session::{Output, Session, TEMPORARY, View};

pub(super) async fn create(session: &Session, new: NewView) -> Result<Output> {
    let name = own_name(&new)?;
    let there = session.temporary().view(&name).is_some();
    if there && new.if_not_exists && !new.replace {
        return Ok(Output::done(format!("View {name} already exists; nothing was done.")));
    }
    let query = renamed(&name, &new.columns, new.query);
    let (tokens, mut options) = mark(&query)?;
    compute(session, &mut options).await?;
    let ast = parse(tokens)?;
    if !matches!(ast, Ast::Query(_)) {
        return Err(Error::invalid("a view needs a query").with("view", &name));
    }
    if names(&ast, &options).iter().any(|parts| *parts == [name.clone()]) {
        return Err(Error::invalid("the view would refer to itself")
            .with("view", &name)
            .with_hint("name a table of the same name with its database"));
    }
    frame(session, ast, &options).await?;
    session.temporary().put_view(&name, View { query, database: session.database() }, new.replace)?;
    Ok(Output::done(format!("Created view {name}.")))
}

fn own_name(new: &NewView) -> Result<String> {
    let (name, temporary) = match new.name.as_slice() {
        [name] => (name, new.temporary),
        [database, name] if database == TEMPORARY => (name, true),
        _ if new.temporary => {
            return Err(Error::invalid("a temporary view has no database").with("view", new.name.join(".")));
        }
        _ => return Err(persistent(&new.name.join("."))),
    };
    if !temporary {
        return Err(persistent(name));
    }
    linn::Identifier::new(TEMPORARY, name)?;
    if name.contains('$') {
        return Err(Error::invalid("the name of a view cannot contain '$'").with("view", name));
    }
    Ok(name.clone())
}

fn persistent(name: &str) -> Error {
    Error::unsupported("CREATE VIEW: the catalog stores no views")
        .with("view", name)
        .with_hint("CREATE TEMPORARY VIEW makes one for this session")
}

/// The query with other names of its columns.
fn renamed(name: &str, columns: &[String], query: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    if columns.is_empty() {
        return query;
    }
    let list: Vec<String> = columns.iter().map(|column| quoted(column)).collect();
    let before = super::text_tokens("SELECT * FROM (");
    let behind = super::text_tokens(&format!(") AS {} ({})", quoted(name), list.join(", ")));
    before.into_iter().chain(query).chain(behind).collect()
}

pub(super) fn drop_view(session: &Session, parts: &[String], if_exists: bool) -> Result<Output> {
    let name = match parts {
        [name] => name,
        [database, name] if database == TEMPORARY => name,
        _ => return Err(Error::not_found("there is no such view").with("view", parts.join("."))),
    };
    if session.temporary().drop_view(name) {
        return Ok(Output::done(format!("Dropped view {name}.")));
    }
    if if_exists {
        return Ok(Output::done(format!("View {name} does not exist; nothing was done.")));
    }
    let views = session.temporary().views();
    let error = Error::not_found("there is no such view").with("view", name);
    let hint = linn::format::suggest::did_you_mean(name, views.iter().map(|(name, _)| name.as_str()));
    Err(match hint {
        Some(hint) => error.with_hint(hint),
        None => error,
    })
}
