//! Completion of keywords, tables and columns, and where a statement ends.

use rustyline::completion::{Completer, Pair};
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Helper as Role, Highlighter, Hinter};

const KEYWORDS: [&str; 62] = [
    "ALTER",
    "AND",
    "AS",
    "ASC",
    "BETWEEN",
    "BY",
    "CALL",
    "CASE",
    "CAST",
    "CREATE",
    "DATABASE",
    "DATABASES",
    "DELETE",
    "DESC",
    "DESCRIBE",
    "DISTINCT",
    "DROP",
    "ELSE",
    "END",
    "EXISTS",
    "EXPLAIN",
    "FOR",
    "FROM",
    "GROUP",
    "HAVING",
    "IF",
    "IN",
    "INNER",
    "INSERT",
    "INTO",
    "IS",
    "JOIN",
    "KEY",
    "LEFT",
    "LIKE",
    "LIMIT",
    "MATCHED",
    "MERGE",
    "NOT",
    "NULL",
    "ON",
    "OPTIONS",
    "OR",
    "ORDER",
    "OVERWRITE",
    "PARTITIONED",
    "PRIMARY",
    "SELECT",
    "SET",
    "SHOW",
    "TABLE",
    "TABLES",
    "THEN",
    "UNION",
    "UPDATE",
    "USE",
    "USING",
    "VALUES",
    "VERSION",
    "WHEN",
    "WHERE",
    "WITH",
];

/// Names of the current database.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Tables and databases.
    pub(super) tables: Vec<String>,
    /// Columns of all tables.
    pub(super) columns: Vec<String>,
    /// System tables, offered from the `$` on.
    pub(super) system: Vec<String>,
}

/// What the editor asks.
#[derive(Debug, Default, Role, Highlighter, Hinter)]
pub(super) struct Helper {
    /// What can be completed.
    pub(super) names: Names,
}

impl Completer for Helper {
    type Candidate = Pair;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let before = line.get(..at).unwrap_or(line);
        let start = before
            .rfind(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$')))
            .map_or(0, |i| i + before[i..].chars().next().map_or(1, char::len_utf8));
        let found = candidates(&self.names, &before[start..]);
        Ok((start, found.into_iter().map(|text| Pair { display: text.clone(), replacement: text }).collect()))
    }
}

fn candidates(names: &Names, word: &str) -> Vec<String> {
    if word.is_empty() {
        return names.tables.clone();
    }
    if word.contains('$') {
        return names.system.iter().filter(|name| name.starts_with(word)).cloned().collect();
    }
    let lower = word.chars().all(|c| !c.is_uppercase());
    let upper = word.to_uppercase();
    let keywords = KEYWORDS.iter().filter(|k| k.starts_with(&upper));
    let keywords = keywords.map(|k| if lower { k.to_lowercase() } else { (*k).to_owned() });
    let known = names.tables.iter().chain(&names.columns).filter(|name| name.starts_with(word)).cloned();
    known.chain(keywords).collect()
}

impl Validator for Helper {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(if is_complete(context.input()) { ValidationResult::Valid(None) } else { ValidationResult::Incomplete })
    }
}

/// Whether the text is to be run: empty, a command, or ending with `;` outside of quotes and comments.
fn is_complete(text: &str) -> bool {
    let trimmed = text.trim();
    if trimmed.is_empty() || trimmed.starts_with('\\') || matches!(trimmed, "quit" | "exit" | "help") {
        return true;
    }
    let (mut quote, mut last) = (None, ' ');
    let mut chars = trimmed.chars().peekable();
    while let Some(c) = chars.next() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if c == '-' && chars.peek() == Some(&'-') => while chars.next_if(|c| *c != '\n').is_some() {},
            None if c == '/' && chars.next_if_eq(&'*').is_some() => {
                let mut before = ' ';
                loop {
                    match chars.next() {
                        Some('/') if before == '*' => break,
                        Some(c) => before = c,
                        // The comment is not at its end.
                        None => return false,
                    }
                }
            }
            None => {
                if matches!(c, '\'' | '"' | '`') {
                    quote = Some(c);
                }
                if !c.is_whitespace() {
                    last = c;
                }
            }
        }
    }
    // The statements of a set end with semicolons too.
    quote.is_none() && last == ';' && !linn_sql::is_open_set(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_end_with_a_semicolon_outside_of_quotes() {
        for text in [
            "",
            "\\d t",
            "SELECT 1;",
            "SELECT ';' ; ",
            "SELECT 1; -- done",
            "SELECT 1; /* ' */",
            "BEGIN STATEMENT SET; INSERT INTO t SELECT 1; END;",
        ] {
            assert!(is_complete(text), "{text}");
        }
        for text in [
            "SELECT 1",
            "SELECT ';",
            "SELECT 1 -- ;",
            "SELECT \"a;\"",
            "SELECT 1 /* ;",
            "SELECT 1 /* ; */",
            "BEGIN STATEMENT SET; INSERT INTO t SELECT 1;",
        ] {
            assert!(!is_complete(text), "{text}");
        }
    }

    #[test]
    fn names_come_before_keywords() {
        let system = vec!["t$files".into(), "t$file_key_ranges".into(), "u$files".into()];
        let names = Names { tables: vec!["selection".into()], columns: vec!["sum".into()], system };
        assert_eq!(candidates(&names, "sel"), ["selection", "select"]);
        assert_eq!(candidates(&names, "SEL"), ["SELECT"]);
        assert_eq!(candidates(&names, "t$fi"), ["t$files", "t$file_key_ranges"]);
    }
}
