//! The dialect of Linn's SQL: the library's generic one, in which operators bind as in PostgreSQL.
//!
//! The generic dialect parses everything behind `IS DISTINCT FROM` as its right side, takes `a = b LIKE c` for
//! `(a = b) LIKE c`, and binds `||`, bit operators, regular expressions and arrows at other places than PostgreSQL does. It also
//! takes ALL in `ORDER BY ALL` for a column.

use std::any::TypeId;

use datafusion::sql::sqlparser::ast::{Expr, UnaryOperator};
use datafusion::sql::sqlparser::dialect::{Dialect, GenericDialect, Precedence};
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::parser::{Parser, ParserError};
use datafusion::sql::sqlparser::tokenizer::Token;

/// See the [module](self).
#[derive(Debug, Clone, Copy)]
pub(crate) struct LinnDialect;

/// How tightly the operators of no class of their own bind: below `+` and `-`, above LIKE.
const OTHER: u8 = 70;
/// How tightly `IS` binds.
const IS: u8 = 40;

/// Answers that are those of the generic dialect.
macro_rules! as_generic {
    ($($name:ident)*) => { $(fn $name(&self) -> bool { GenericDialect.$name() })* };
}

impl Dialect for LinnDialect {
    fn dialect(&self) -> TypeId {
        GenericDialect.dialect()
    }

    fn is_delimited_identifier_start(&self, ch: char) -> bool {
        GenericDialect.is_delimited_identifier_start(ch)
    }

    fn is_identifier_start(&self, ch: char) -> bool {
        GenericDialect.is_identifier_start(ch)
    }

    fn is_identifier_part(&self, ch: char) -> bool {
        GenericDialect.is_identifier_part(ch)
    }

    fn supports_order_by_all(&self) -> bool {
        true
    }

    fn prec_value(&self, precedence: Precedence) -> u8 {
        match precedence {
            Precedence::Period => 200,
            Precedence::DoubleColon => 140,
            Precedence::AtTz => 110,
            Precedence::MulDivModOp => 90,
            Precedence::PlusMinus => 80,
            Precedence::Xor => 75,
            Precedence::Ampersand | Precedence::Caret | Precedence::Pipe | Precedence::Colon | Precedence::PgOther => {
                OTHER
            }
            Precedence::Between | Precedence::Like => 60,
            Precedence::Eq => 50,
            Precedence::Is => IS,
            Precedence::UnaryNot => 30,
            Precedence::And => 20,
            Precedence::Or => 10,
        }
    }

    fn get_next_precedence(&self, parser: &Parser) -> Option<Result<u8, ParserError>> {
        match &parser.peek_token_ref().token {
            Token::StringConcat
            | Token::Tilde
            | Token::TildeAsterisk
            | Token::ExclamationMarkTilde
            | Token::ExclamationMarkTildeAsterisk
            | Token::DoubleTilde
            | Token::DoubleTildeAsterisk
            | Token::ExclamationMarkDoubleTilde
            | Token::ExclamationMarkDoubleTildeAsterisk
            | Token::CaretAt => Some(Ok(OTHER)),
            _ => None,
        }
    }

    /// `~a + b` is `~(a + b)`: the operator binds as other operators do.
    fn parse_prefix(&self, parser: &mut Parser) -> Option<Result<Expr, ParserError>> {
        if parser.peek_token_ref().token != Token::Tilde {
            return None;
        }
        parser.advance_token();
        let expr = parser.parse_subexpr(OTHER);
        Some(expr.map(|expr| Expr::UnaryOp { op: UnaryOperator::BitwiseNot, expr: Box::new(expr) }))
    }

    /// `a IS [NOT] DISTINCT FROM b`, whose right side ends where an operator binds no tighter than IS.
    fn parse_infix(&self, parser: &mut Parser, left: &Expr, _precedence: u8) -> Option<Result<Expr, ParserError>> {
        let negated = if parser.parse_keywords(&[Keyword::IS, Keyword::DISTINCT, Keyword::FROM]) {
            false
        } else if parser.parse_keywords(&[Keyword::IS, Keyword::NOT, Keyword::DISTINCT, Keyword::FROM]) {
            true
        } else {
            return None;
        };
        let left = Box::new(left.clone());
        Some(parser.parse_subexpr(IS).map(|right| match negated {
            true => Expr::IsNotDistinctFrom(left, Box::new(right)),
            false => Expr::IsDistinctFrom(left, Box::new(right)),
        }))
    }

    as_generic! {
        supports_unicode_string_literal supports_partition_by_after_order_by supports_array_join_syntax
        supports_group_by_expr supports_group_by_with_modifier supports_left_associative_joins_without_parens
        supports_connect_by supports_match_recognize supports_pipe_operator supports_start_transaction_modifier
        supports_window_function_null_treatment_arg supports_dictionary_syntax supports_window_clause_named_window_reference
        supports_parenthesized_set_variables supports_select_wildcard_except support_map_literal_syntax allow_extract_custom
        allow_extract_single_quotes supports_extract_comma_syntax supports_create_view_comment_syntax
        supports_parens_around_table_factor supports_values_as_table_factor supports_create_index_with_clause
        supports_explain_with_utility_options supports_limit_comma supports_update_order_by supports_from_first_select
        supports_projection_trailing_commas supports_asc_desc_in_column_definition supports_try_convert
        supports_bitwise_shift_operators supports_comment_on supports_load_extension
        supports_named_fn_args_with_assignment_operator supports_struct_literal supports_empty_projections
        supports_nested_comments supports_multiline_comment_hints supports_user_host_grantee supports_string_escape_constant
        supports_array_typedef_with_brackets supports_match_against supports_set_names
        supports_comma_separated_set_assignments supports_filter_during_aggregation supports_select_wildcard_exclude
        supports_data_type_signed_suffix supports_interval_options supports_quote_delimited_string
        supports_select_wildcard_replace supports_select_wildcard_ilike supports_select_wildcard_rename
        supports_optimize_table supports_install supports_detach supports_prewhere supports_with_fill supports_limit_by
        supports_interpolate supports_settings supports_select_format supports_comment_optimizer_hint
        supports_constraint_keyword_without_name supports_key_column_option supports_comma_separated_trim
        supports_cte_without_as supports_select_item_multi_column_alias supports_xml_expressions
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use datafusion::sql::sqlparser::ast::visit_expressions_mut;

    use super::*;

    /// Two spellings are the same expression.
    fn check(sql: &str, parenthesized: &str) {
        let tree = |sql: &str| {
            let mut parser = Parser::new(&LinnDialect).try_with_sql(sql).unwrap();
            let mut expr = parser.parse_expr().unwrap_or_else(|e| panic!("{sql}: {e}"));
            let _: ControlFlow<()> = visit_expressions_mut(&mut expr, |expr| {
                if let Expr::Nested(inner) = expr {
                    *expr = (**inner).clone();
                }
                ControlFlow::Continue(())
            });
            assert_eq!(parser.peek_token_ref().token, Token::EOF, "{sql}");
            written(&expr)
        };
        assert_eq!(tree(sql), tree(parenthesized), "{sql}");
    }

    /// The tree of an expression.
    fn written(expr: &Expr) -> String {
        let mut out = format!("{expr:?}");
        // Spans of the source say where, not what.
        while let Some(at) = out.find("Span(") {
            let end = out.get(at..).and_then(|rest| rest.find("))")).map_or(out.len(), |end| at + end + 2);
            out.replace_range(at..end.min(out.len()), "");
        }
        out
    }

    #[test]
    fn operators_bind_as_in_postgresql() {
        for (sql, parenthesized) in [
            ("true IS DISTINCT FROM false AND false", "(true IS DISTINCT FROM false) AND false"),
            ("a IS NOT DISTINCT FROM b OR c", "(a IS NOT DISTINCT FROM b) OR c"),
            ("NOT a IS DISTINCT FROM b AND c", "(NOT (a IS DISTINCT FROM b)) AND c"),
            ("a IS DISTINCT FROM b = c", "a IS DISTINCT FROM (b = c)"),
            ("a IS DISTINCT FROM b + 1 AND c", "(a IS DISTINCT FROM (b + 1)) AND c"),
            ("a IS DISTINCT FROM b IS NULL", "(a IS DISTINCT FROM b) IS NULL"),
            ("a = b LIKE c", "a = (b LIKE c)"),
            ("a = b BETWEEN c AND d", "a = (b BETWEEN c AND d)"),
            ("a BETWEEN b AND c AND d", "(a BETWEEN b AND c) AND d"),
            ("a < b IS NULL", "(a < b) IS NULL"),
            ("1 + 2 || 'x'", "(1 + 2) || 'x'"),
            ("a || b = c", "(a || b) = c"),
            ("a || b LIKE c || d", "(a || b) LIKE (c || d)"),
            ("a -> 'k' = 'v'", "(a -> 'k') = 'v'"),
            ("a -> 'k' IS NULL", "(a -> 'k') IS NULL"),
            ("a @> b AND c", "(a @> b) AND c"),
            ("1 + 2 << 3", "(1 + 2) << 3"),
            ("1 << 2 & 3", "(1 << 2) & 3"),
            ("1 | 2 & 3", "(1 | 2) & 3"),
            ("a & b = c", "(a & b) = c"),
            ("a || b ~ c", "(a || b) ~ c"),
            ("~ 1 + 2", "~ (1 + 2)"),
            ("- a * b", "(- a) * b"),
            ("- a::INT", "- (a::INT)"),
            ("a + b AT TIME ZONE 'UTC'", "a + (b AT TIME ZONE 'UTC')"),
            ("NOT a = b", "NOT (a = b)"),
            ("NOT a LIKE b AND c", "(NOT (a LIKE b)) AND c"),
            ("a OR b AND NOT c", "a OR (b AND (NOT c))"),
            ("a IN (1) = b", "(a IN (1)) = b"),
            ("a - b - c", "(a - b) - c"),
            ("a % b * c", "(a % b) * c"),
        ] {
            check(sql, parenthesized);
        }
    }
}
