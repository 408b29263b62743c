//! Lists: procedures, functions, views, and what system tables say of a table.

use datafusion::arrow::array::StringArray;
use linn::{Error, Result};

use super::call::signatures;
use super::functions::functions;
use super::show::rows;
use super::{query, text_tokens};
use crate::names::quoted;
use crate::parse::{Listed, TableOptions};
use crate::session::{Output, Session};

/// `SHOW TAGS FROM t` and its kin: the rows of a system table.
pub(super) async fn of_table(
    session: &Session,
    mut table: Vec<String>,
    system: &str,
    options: &TableOptions,
) -> Result<Output> {
    let Some(last) = table.last_mut() else { return Err(Error::internal("a table without a name")) };
    if session.identifier(std::slice::from_ref(&*last))?.system.is_some() {
        return Err(Error::invalid("this is a system table, not a table").with("table", &*last));
    }
    *last = format!("{last}${system}");
    let name: Vec<String> = table.iter().map(|part| quoted(part)).collect();
    query::run(session, text_tokens(&format!("SELECT * FROM {}", name.join("."))), options).await
}

/// `SHOW PROCEDURES`, `SHOW FUNCTIONS`, `SHOW VIEWS`.
pub(super) fn names(session: &Session, what: Listed, like: Option<&str>) -> Result<Output> {
    let (columns, mut found): ([&str; 2], Vec<(String, String)>) = match what {
        Listed::Procedures => (["procedure", "parameters"], signatures()),
        Listed::Functions => (["function", "kind"], known(session)),
        Listed::Views => {
            let views = session.temporary().views().into_iter();
            let text = |query: &[_]| query.iter().map(ToString::to_string).collect::<String>().trim().to_owned();
            (["view", "query"], views.map(|(name, view)| (name, text(&view.query))).collect())
        }
    };
    if let Some(pattern) = like {
        let names = StringArray::from_iter_values(found.iter().map(|(name, _)| name));
        let matches = datafusion::arrow::compute::ilike(&names, &StringArray::new_scalar(pattern))?;
        let mut matches = matches.iter();
        found.retain(|_| matches.next().flatten().unwrap_or(false));
    }
    found.sort();
    found.dedup();
    let (names, others) = found.into_iter().unzip();
    rows(&columns, [names, others])
}

fn known(session: &Session) -> Vec<(String, String)> {
    let state = session.context().state();
    let kind = |names: Vec<&String>, kind: &str| {
        names.into_iter().map(|name| (name.clone(), kind.to_owned())).collect::<Vec<_>>()
    };
    let mut found = kind(state.scalar_functions().keys().collect(), "scalar");
    found.extend(kind(state.aggregate_functions().keys().collect(), "aggregate"));
    found.extend(kind(state.window_functions().keys().collect(), "window"));
    found.extend(kind(state.table_functions().keys().collect(), "table"));
    found.extend(crate::file::FUNCTION_NAMES.map(|name| (name.to_owned(), "table".to_owned())));
    found.extend(functions(session).into_iter().map(|function| (function.name().to_owned(), "scalar".to_owned())));
    found
}
