//! Numbers in VALUES that go to DECIMAL columns, digit by digit: a query takes a number with a point for a double, of which
//! a DECIMAL would get other digits.

use datafusion::sql::sqlparser::ast::{Expr, SetExpr, Statement as Ast, UnaryOperator, Value};
use datafusion::sql::sqlparser::parser::Parser;
use linn::format::types::{DataField, Kind};

use crate::parse::DIALECT;

/// Digits of the longest DECIMAL.
const DIGITS: usize = 38;

/// Makes decimals of the numbers of VALUES whose columns go to `fields`, which are in the order of the columns. A column that
/// holds anything else than numbers and nulls stays as it is.
pub(super) fn keep_digits(ast: &mut Ast, fields: &[&DataField]) {
    let Ast::Query(query) = ast else { return };
    let SetExpr::Values(values) = query.body.as_mut() else { return };
    for (at, _) in fields.iter().enumerate().filter(|(_, f)| matches!(f.data_type.kind, Kind::Decimal { .. })) {
        let texts: Option<Vec<_>> = values.rows.iter().map(|row| row.content.get(at).and_then(number)).collect();
        let Some(texts) = texts else { continue };
        let Some(scale) = scale(texts.iter().flatten()) else { continue };
        for (row, text) in values.rows.iter_mut().zip(texts) {
            let decimal = text.and_then(|text| cast(&text, scale));
            if let (Some(place), Some(decimal)) = (row.content.get_mut(at), decimal) {
                *place = decimal;
            }
        }
    }
}

/// The digits of a number without an exponent, with its sign; of null nothing. `None` for all else.
fn number(expr: &Expr) -> Option<Option<String>> {
    match expr {
        Expr::Value(value) => match &value.value {
            Value::Number(text, _) if !text.contains(['e', 'E']) => Some(Some(text.clone())),
            Value::Null => Some(None),
            _ => None,
        },
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => Some(Some(format!("-{}", number(expr)??))),
        _ => None,
    }
}

/// The digits behind the point that hold all numbers; `None` when a DECIMAL has no room for them, or none has a point.
fn scale<'a>(texts: impl Iterator<Item = &'a String>) -> Option<usize> {
    let (mut before, mut behind) = (0, 0);
    for text in texts {
        let (whole, rest) = text.trim_start_matches('-').split_once('.').unwrap_or((text, ""));
        (before, behind) = (before.max(whole.len()), behind.max(rest.len()));
    }
    (behind > 0 && before + behind <= DIGITS).then_some(behind)
}

fn cast(text: &str, scale: usize) -> Option<Expr> {
    let sql = format!("CAST('{text}' AS DECIMAL({DIGITS}, {scale}))");
    Parser::new(&DIALECT).try_with_sql(&sql).ok()?.parse_expr().ok()
}
