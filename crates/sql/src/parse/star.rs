//! `INSERT *` and `UPDATE SET *` of MERGE: every column of the target takes the column of the source that has its name.
//!
//! The library's parser knows neither, so they become what it does know and nobody else writes.

use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Span, Token, TokenWithSpan, Word};

use super::cursor::Cursor;

/// The column that stands for all in `UPDATE SET *`; no table can have it.
pub(crate) const EVERY: &str = "\u{1}*";

/// The tokens of a statement with the stars of MERGE replaced: `INSERT ROW`, and an assignment to [`EVERY`].
pub(super) fn without_stars(tokens: &[TokenWithSpan]) -> Vec<TokenWithSpan> {
    if !Cursor::new(tokens).take("MERGE INTO") && !Cursor::new(tokens).take("MERGE") {
        return tokens.to_vec();
    }
    let mut out = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let mut cursor = Cursor::new(tokens.get(at..).unwrap_or_default());
        let (span, new) = (token.span, !matches!(token.token, Token::Whitespace(_)));
        if new && cursor.take("INSERT") && cursor.take_token(&Token::Mul) {
            out.extend(at_place(span, [bare("INSERT", Keyword::INSERT), space(), bare("ROW", Keyword::ROW), space()]));
        } else if new && cursor.take("UPDATE SET") && cursor.take_token(&Token::Mul) {
            let every = Word { value: EVERY.to_owned(), quote_style: Some('"'), keyword: Keyword::NoKeyword };
            out.extend(at_place(span, [bare("UPDATE", Keyword::UPDATE), space(), bare("SET", Keyword::SET), space()]));
            out.extend(at_place(span, [Token::Word(every), Token::Eq, bare("NULL", Keyword::NULL), space()]));
        } else {
            out.push(token.clone());
            at += 1;
            continue;
        }
        at += cursor.index();
    }
    out
}

fn at_place<const N: usize>(span: Span, tokens: [Token; N]) -> impl Iterator<Item = TokenWithSpan> {
    tokens.into_iter().map(move |token| TokenWithSpan::new(token, span))
}

fn bare(text: &str, keyword: Keyword) -> Token {
    Token::Word(Word { value: text.to_owned(), quote_style: None, keyword })
}

fn space() -> Token {
    Token::Whitespace(datafusion::sql::sqlparser::tokenizer::Whitespace::Space)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::split;

    fn check(sql: &str, expected: &str) {
        let text: String = without_stars(&split(sql).unwrap().remove(0)).iter().map(ToString::to_string).collect();
        assert_eq!(text.trim(), expected);
    }

    #[test]
    fn stars_become_what_the_parser_knows() {
        check(
            "MERGE INTO t USING s ON a * 2 = b WHEN NOT MATCHED THEN INSERT * WHEN MATCHED THEN UPDATE SET *",
            "MERGE INTO t USING s ON a * 2 = b WHEN NOT MATCHED THEN INSERT ROW WHEN MATCHED THEN UPDATE SET \"\u{1}*\"=NULL",
        );
        check("INSERT INTO t SELECT * FROM s", "INSERT INTO t SELECT * FROM s");
    }
}
