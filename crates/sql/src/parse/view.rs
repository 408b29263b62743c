//! Views: `CREATE [OR REPLACE] [TEMPORARY] VIEW`, `DROP VIEW`.

use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};
use linn::Result;

use super::cursor::Cursor;
use super::statement::Statement;

/// A view to be made.
#[derive(Debug)]
pub(crate) struct NewView {
    /// Its name.
    pub(crate) name: Vec<String>,
    /// Names of its columns; those of the query when empty.
    pub(crate) columns: Vec<String>,
    /// Its query.
    pub(crate) query: Vec<TokenWithSpan>,
    /// OR REPLACE.
    pub(crate) replace: bool,
    /// TEMPORARY.
    pub(crate) temporary: bool,
    /// IF NOT EXISTS.
    pub(crate) if_not_exists: bool,
}

/// What follows `CREATE … VIEW`.
pub(super) fn create_view(
    mut c: Cursor<'_>,
    tokens: &[TokenWithSpan],
    replace: bool,
    temporary: bool,
) -> Result<Statement> {
    let if_not_exists = c.take("IF NOT EXISTS");
    let name = c.object()?;
    let columns = if c.peek() == Some(&Token::LParen) { c.list(Cursor::name)? } else { Vec::new() };
    c.require("AS")?;
    if c.done() {
        return Err(c.expected("a query"));
    }
    let query = tokens.get(c.index()..).unwrap_or_default().to_vec();
    Ok(Statement::CreateView(NewView { name, columns, query, replace, temporary, if_not_exists }))
}

/// What follows `DROP VIEW`.
pub(super) fn drop_view(mut c: Cursor<'_>) -> Result<Statement> {
    let if_exists = c.take("IF EXISTS");
    let name = c.object()?;
    c.end()?;
    Ok(Statement::DropView { name, if_exists })
}
