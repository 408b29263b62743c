//! Words of SQL: for completion and for colours.

/// Words that begin or connect parts of statements, in order.
pub(super) const KEYWORDS: &[&str] = &[
    "ADD",
    "ALL",
    "ALTER",
    "ANALYZE",
    "AND",
    "ANY",
    "AS",
    "ASC",
    "BEGIN",
    "BETWEEN",
    "BY",
    "CALL",
    "CASE",
    "CAST",
    "COLUMN",
    "COLUMNS",
    "COMMENT",
    "COMPUTE",
    "COPY",
    "CREATE",
    "CROSS",
    "DATABASE",
    "DATABASES",
    "DEFAULT",
    "DELETE",
    "DESC",
    "DESCRIBE",
    "DISTINCT",
    "DROP",
    "ELSE",
    "END",
    "EXCEPT",
    "EXECUTE",
    "EXISTS",
    "EXPLAIN",
    "FALSE",
    "FOR",
    "FROM",
    "FULL",
    "FUNCTIONS",
    "GROUP",
    "HAVING",
    "IF",
    "IN",
    "INNER",
    "INSERT",
    "INTERSECT",
    "INTERVAL",
    "INTO",
    "IS",
    "JOIN",
    "KEY",
    "LEFT",
    "LIKE",
    "LIMIT",
    "MATCHED",
    "MERGE",
    "MODIFY",
    "NOT",
    "NULL",
    "NULLS",
    "OF",
    "OFFSET",
    "ON",
    "OPTIONS",
    "OR",
    "ORDER",
    "OUTER",
    "OVER",
    "OVERWRITE",
    "PARTITION",
    "PARTITIONED",
    "PARTITIONS",
    "PREPARE",
    "PRIMARY",
    "PROCEDURES",
    "RENAME",
    "REPLACE",
    "RIGHT",
    "SELECT",
    "SET",
    "SHOW",
    "STATEMENT",
    "STATISTICS",
    "SUMMARIZE",
    "SYSTEM_TIME",
    "TABLE",
    "TABLES",
    "TAGS",
    "TEMPORARY",
    "THEN",
    "TIMESTAMP",
    "TO",
    "TRUE",
    "TRUNCATE",
    "UNION",
    "UPDATE",
    "USE",
    "USING",
    "VALUES",
    "VERSION",
    "VIEW",
    "WHEN",
    "WHERE",
    "WINDOW",
    "WITH",
];

/// Whether a word is one of them.
pub(super) fn is_keyword(word: &str) -> bool {
    KEYWORDS.binary_search(&word.to_ascii_uppercase().as_str()).is_ok()
}

/// What a piece of a statement is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece {
    /// A word or a number.
    Word,
    /// Text in single quotes; open at its end where the statement goes on.
    Text { open: bool },
    /// A name in double quotes or backquotes.
    Name { open: bool },
    /// A comment.
    Comment { open: bool },
    /// Blanks.
    Blank,
    /// Any other character.
    Sign,
}

/// Cuts a text into pieces; together they are the text.
pub(super) fn pieces(text: &str) -> Vec<(Piece, &str)> {
    let mut all = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (piece, length) = next(rest, first);
        let (head, tail) = rest.split_at(length.clamp(first.len_utf8(), rest.len()));
        all.push((piece, head));
        rest = tail;
    }
    all
}

fn next(rest: &str, first: char) -> (Piece, usize) {
    let until = |stop: &dyn Fn(char) -> bool| rest.find(stop).unwrap_or(rest.len());
    match first {
        '\'' => quoted(rest, first, |open| Piece::Text { open }),
        '"' | '`' => quoted(rest, first, |open| Piece::Name { open }),
        '-' if rest.starts_with("--") => (Piece::Comment { open: false }, until(&|c| c == '\n')),
        '/' if rest.starts_with("/*") => match rest.get(2..).and_then(|inner| inner.find("*/")) {
            Some(end) => (Piece::Comment { open: false }, end + 4),
            None => (Piece::Comment { open: true }, rest.len()),
        },
        c if is_part(c) => (Piece::Word, until(&|c| !is_part(c))),
        c if c.is_whitespace() => (Piece::Blank, until(&|c| !c.is_whitespace())),
        c => (Piece::Sign, c.len_utf8()),
    }
}

/// A doubled quote inside stands for one, which two pieces side by side show as well.
fn quoted(rest: &str, quote: char, piece: fn(bool) -> Piece) -> (Piece, usize) {
    match rest.get(1..).and_then(|inner| inner.find(quote)) {
        Some(end) => (piece(false), end + 2),
        None => (piece(true), rest.len()),
    }
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_in_order() {
        assert!(KEYWORDS.is_sorted());
        assert!(is_keyword("select") && !is_keyword("selection"));
    }

    #[test]
    fn pieces_are_the_whole_text() {
        let text = "SELECT 'a;''b', \"c d\" -- x\n/* y */ FROM t$files;";
        let all = pieces(text);
        assert_eq!(all.iter().map(|(_, text)| *text).collect::<String>(), text);
        assert_eq!(all[2], (Piece::Text { open: false }, "'a;'"));
        assert!(all.contains(&(Piece::Name { open: false }, "\"c d\"")));
        assert!(all.contains(&(Piece::Word, "t$files")));
        assert_eq!(pieces("'a").last(), Some(&(Piece::Text { open: true }, "'a")));
        assert_eq!(pieces("/* a").last(), Some(&(Piece::Comment { open: true }, "/* a")));
    }
}
