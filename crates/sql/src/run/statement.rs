//! Running the statements of a text, one after the other.

use datafusion::arrow::record_batch::RecordBatch;
use datafusion::sql::sqlparser::tokenizer::TokenWithSpan;
use linn::format::predicate::Predicate;
use linn::{Identifier, Result};

use crate::parse::{TableOptions, mark, parse, pointed, split, verbatim};
use crate::provider::Reading;
use crate::session::{Output, Session};

impl Session {
    /// Runs statements separated by `;`, and hands what each gives to `each` before the next one runs.
    ///
    /// # Errors
    /// The error of the first statement that fails, with its text; those before it have been run.
    pub async fn run<F>(&self, sql: &str, mut each: F) -> Result<()>
    where
        F: AsyncFnMut(Output) -> Result<()>,
    {
        let statements = split(sql).map_err(|e| pointed(e, sql))?;
        let several = statements.len() > 1;
        for tokens in statements {
            let done = async { each(Box::pin(self.statement(&tokens)).await?).await }.await;
            let done = done.map_err(|e| pointed(e, sql));
            done.map_err(|e| if several { e.with("statement", shown(&tokens)) } else { e })?;
        }
        Ok(())
    }

    /// Runs one statement.
    ///
    /// # Errors
    /// `Invalid` for text that is not exactly one statement, and whatever running it can give.
    pub async fn execute(&self, sql: &str) -> Result<Output> {
        let mut statements = split(sql).map_err(|e| pointed(e, sql))?;
        match (statements.pop(), statements.is_empty()) {
            (Some(tokens), true) => Box::pin(self.statement(&tokens)).await.map_err(|e| pointed(e, sql)),
            _ => Err(linn::Error::invalid("SQL: this takes exactly one statement")),
        }
    }

    /// What a query would read of each table in it; nothing for what needs no files.
    ///
    /// # Errors
    /// `Invalid` for text that is not exactly one query, and whatever planning it can give.
    pub async fn readings(&self, sql: &str) -> Result<Vec<Reading>> {
        let mut statements = split(sql)?;
        let (Some(tokens), true) = (statements.pop(), statements.is_empty()) else {
            return Err(linn::Error::invalid("SQL: this takes exactly one query"));
        };
        let (tokens, mut options) = mark(&tokens)?;
        super::compute(self, &mut options).await?;
        super::readings(self, tokens, &options).await
    }

    /// A condition in SQL over the columns of a table, as a filter that reads apply by themselves.
    ///
    /// # Errors
    /// `Invalid` for text that is no condition, `Unsupported` for one that takes a query engine.
    pub async fn condition(&self, table: &Identifier, text: &str) -> Result<Predicate> {
        super::condition(self, table, text).await
    }

    /// Deletes the rows of a primary-key table whose keys are in these batches, which have the columns of its primary key in
    /// that order and in the Arrow types of the table. Returns how many there were.
    ///
    /// # Errors
    /// `Unsupported` without a primary key, and what reading, writing and committing can give.
    pub async fn delete_keys(&self, table: &Identifier, keys: Vec<RecordBatch>) -> Result<u64> {
        super::delete_keys(self, table, keys).await
    }

    /// How many rows [`delete_keys`](Self::delete_keys) would delete.
    ///
    /// # Errors
    /// As there.
    pub async fn count_keys(&self, table: &Identifier, keys: Vec<RecordBatch>) -> Result<u64> {
        super::count_keys(self, table, keys).await
    }

    async fn statement(&self, tokens: &[TokenWithSpan]) -> Result<Output> {
        let executed = super::executed(self, tokens)?;
        let tokens = executed.as_deref().unwrap_or(tokens);
        // What is kept for later is kept as it was written. The future of a statement is large, and every caller would hold it.
        if verbatim(tokens) {
            return Box::pin(super::run(self, parse(tokens)?, &TableOptions::default())).await;
        }
        let (tokens, mut options) = mark(tokens)?;
        super::compute(self, &mut options).await?;
        Box::pin(super::run(self, parse(&tokens)?, &options)).await
    }
}

/// The beginning of a statement, for messages.
fn shown(tokens: &[TokenWithSpan]) -> String {
    const LONGEST: usize = 100;
    let text: String = tokens.iter().map(ToString::to_string).collect();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}
