//! SET, RESET, SHOW of settings; PREPARE, EXECUTE, DEALLOCATE.

use std::sync::{Arc, PoisonError};

use datafusion::sql::sqlparser::parser::Parser;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};
use linn::format::suggest::did_you_mean;
use linn::{Error, Result};

use super::show::rows;
use super::text_tokens;
use crate::parse::{DEPTH, DIALECT, Statement, refused};
use crate::session::{Output, Prepared, Session};

/// Runs a statement about settings.
pub(super) fn settings(session: &Session, statement: Statement) -> Result<Output> {
    let (settings, context) = (session.settings(), session.context());
    match statement {
        Statement::Set { key, value } => {
            settings.set(context, &key, &value)?;
            Ok(Output::done(format!("Set {key} to {value}.")))
        }
        Statement::Reset(key) => {
            settings.reset(context, key.as_deref())?;
            Ok(Output::done(key.map_or_else(|| "Reset all settings.".to_owned(), |key| format!("Reset {key}."))))
        }
        Statement::ShowSettings(Some(Some(key))) => {
            let value = settings.value(context, &key)?;
            rows(&["name", "value"], [vec![key], vec![value]])
        }
        Statement::ShowSettings(which) => {
            let found = if which.is_none() { settings.given(context) } else { settings.all(context) };
            let (keys, values) = found.into_iter().unzip();
            rows(&["name", "value"], [keys, values])
        }
        other => Err(Error::internal(format!("{other:?} is not about settings"))),
    }
}

/// Keeps a statement.
pub(super) fn prepare(
    session: &Session,
    name: String,
    types: Vec<String>,
    statement: Vec<TokenWithSpan>,
) -> Result<Output> {
    let mut prepared = session.prepared().write().unwrap_or_else(PoisonError::into_inner);
    if prepared.contains_key(&name) {
        return Err(Error::already_exists("a prepared statement of this name exists already")
            .with("statement", &name)
            .with_hint(format!("DEALLOCATE {name} deletes it")));
    }
    if matches!(crate::parse::parse(&statement)?, Statement::Execute { .. } | Statement::Prepare { .. }) {
        return Err(Error::invalid("a prepared statement is not PREPARE or EXECUTE").with("statement", name));
    }
    // Places are in the text of a later one; where it stands in this text says nothing then.
    let statement = statement.into_iter().map(|token| TokenWithSpan::wrap(token.token)).collect();
    let message = format!("Prepared {name}.");
    prepared.insert(name, Arc::new(Prepared { types, statement }));
    Ok(Output::done(message))
}

/// The statement that EXECUTE means, with its values; `None` for any other statement.
pub(crate) fn executed(session: &Session, tokens: &[TokenWithSpan]) -> Result<Option<Vec<TokenWithSpan>>> {
    if !crate::parse::executes(tokens) {
        return Ok(None);
    }
    let Statement::Execute { name, arguments } = crate::parse::parse(tokens)? else { return Ok(None) };
    let prepared = session.prepared().read().unwrap_or_else(PoisonError::into_inner).get(&name).cloned();
    let Some(prepared) = prepared else { return Err(missing(session, &name)) };
    for argument in &arguments {
        let mut parser = Parser::new(&DIALECT).with_recursion_limit(DEPTH).with_tokens_with_locations(argument.clone());
        parser.parse_expr().map_err(|e| refused(&e, argument))?;
        let rest = parser.next_token();
        if rest.token != Token::EOF {
            return Err(crate::parse::at(Error::invalid("SQL: a value must be a single expression"), rest.span.start));
        }
    }
    bound(&name, &prepared, &arguments).map(Some)
}

/// The statement with values in the places of `$1`, `$2` and so on, or of each `?` in turn.
fn bound(name: &str, prepared: &Prepared, arguments: &[Vec<TokenWithSpan>]) -> Result<Vec<TokenWithSpan>> {
    let (mut out, mut used, mut next) = (Vec::with_capacity(prepared.statement.len()), 0usize, 0usize);
    for token in &prepared.statement {
        let place = match &token.token {
            Token::Placeholder(text) if text == "?" => {
                next += 1;
                next
            }
            Token::Question => {
                next += 1;
                next
            }
            Token::Placeholder(text) => match text.strip_prefix('$').and_then(|number| number.parse::<usize>().ok()) {
                Some(place) if place > 0 => place,
                _ => {
                    return Err(Error::unsupported(format!("the parameter {text} of a prepared statement"))
                        .with_hint("parameters are $1, $2 and so on, or ?"));
                }
            },
            _ => {
                out.push(token.clone());
                continue;
            }
        };
        used = used.max(place);
        let Some(value) = arguments.get(place - 1) else { continue };
        // A bare value stays one, so that it can stand where only a literal can.
        let bare = value.iter().filter(|t| !matches!(t.token, Token::Whitespace(_))).count() == 1;
        match prepared.types.get(place - 1) {
            Some(data_type) => {
                out.extend(text_tokens("CAST("));
                out.extend(value.iter().cloned());
                out.extend(text_tokens(&format!(" AS {data_type})")));
            }
            None if bare => out.extend(value.iter().cloned()),
            None => {
                out.push(TokenWithSpan::wrap(Token::LParen));
                out.extend(value.iter().cloned());
                out.push(TokenWithSpan::wrap(Token::RParen));
            }
        }
    }
    if used != arguments.len() {
        let (values, are) = (arguments.len(), if arguments.len() == 1 { "is" } else { "are" });
        return Err(Error::invalid(format!("the prepared statement {name} takes {used} values, {values} {are} given")));
    }
    Ok(out)
}

fn missing(session: &Session, name: &str) -> Error {
    let prepared = session.prepared().read().unwrap_or_else(PoisonError::into_inner);
    let error = Error::not_found("there is no such prepared statement").with("statement", name);
    match did_you_mean(name, prepared.keys().map(String::as_str)) {
        Some(hint) => error.with_hint(hint),
        None => error,
    }
}

/// Forgets a kept statement, or all.
pub(super) fn deallocate(session: &Session, name: Option<String>) -> Result<Output> {
    let Some(name) = name else {
        session.prepared().write().unwrap_or_else(PoisonError::into_inner).clear();
        return Ok(Output::done("Deallocated all prepared statements."));
    };
    let removed = session.prepared().write().unwrap_or_else(PoisonError::into_inner).remove(&name);
    match removed {
        Some(_) => Ok(Output::done(format!("Deallocated {name}."))),
        None => Err(missing(session, &name)),
    }
}
