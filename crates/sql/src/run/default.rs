//! Values that a statement leaves out: the default of the column, else null, in every statement alike.

use datafusion::sql::sqlparser::ast::{Expr, SetExpr, Statement as Ast};
use datafusion::sql::sqlparser::parser::Parser;
use linn::format::types::{DataField, Kind};
use linn::{Error, Result};

use crate::parse::DIALECT;

/// The default of a column as text, without the quotes that a schema may keep around it.
pub(super) fn text(field: &DataField) -> Option<String> {
    let text = field.default_value.as_deref()?;
    let is_text =
        matches!(field.data_type.kind, Kind::Char(_) | Kind::Varchar(_) | Kind::Binary(_) | Kind::Varbinary(_));
    let text = if is_text { text } else { text.trim() };
    Some(text.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')).unwrap_or(text).to_owned())
}

/// The default of a column as an expression.
pub(super) fn sql(field: &DataField) -> String {
    let Some(text) = text(field) else { return "NULL".to_owned() };
    let quoted = format!("'{}'", text.replace('\'', "''"));
    match field.data_type.kind {
        Kind::TinyInt
        | Kind::SmallInt
        | Kind::Int
        | Kind::BigInt
        | Kind::Decimal { .. }
        | Kind::Float
        | Kind::Double
            if is_number(&text) =>
        {
            text
        }
        Kind::Boolean => format!("CAST({quoted} AS BOOLEAN)"),
        Kind::Date => format!("DATE {quoted}"),
        Kind::Time(_) => format!("TIME {quoted}"),
        Kind::Timestamp(_) => format!("TIMESTAMP {quoted}"),
        _ => quoted,
    }
}

/// A number as SQL writes it.
fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        && digits.bytes().filter(|byte| *byte == b'.').count() < 2
}

/// Whether an expression is the word DEFAULT.
pub(super) fn is_default(expr: &Expr) -> bool {
    matches!(expr, Expr::Identifier(name) if name.quote_style.is_none() && name.value.eq_ignore_ascii_case("DEFAULT"))
}

/// What goes to a column, as an expression: DEFAULT is the column's.
pub(super) fn value(expr: &Expr, field: &DataField) -> String {
    if is_default(expr) { sql(field) } else { format!("({expr})") }
}

/// Puts the defaults of the columns in place of DEFAULT in VALUES.
///
/// # Errors
/// `Invalid` when a row has more values than there are columns.
pub(super) fn fill(query: &mut Ast, targets: &[&DataField]) -> Result<()> {
    let Ast::Query(query) = query else { return Ok(()) };
    let SetExpr::Values(values) = query.body.as_mut() else { return Ok(()) };
    for row in &mut values.rows {
        for (at, expr) in row.content.iter_mut().enumerate().filter(|(_, expr)| is_default(expr)) {
            let field = targets.get(at);
            let field = field.ok_or_else(|| Error::invalid("SQL: VALUES has more values than there are columns"))?;
            *expr = parsed(&sql(field))?;
        }
    }
    Ok(())
}

/// One row of the defaults of all columns.
pub(super) fn row(targets: &[&DataField]) -> String {
    format!("VALUES ({})", targets.iter().map(|field| sql(field)).collect::<Vec<_>>().join(", "))
}

fn parsed(sql: &str) -> Result<Expr> {
    let expr = Parser::new(&DIALECT).try_with_sql(sql).and_then(|mut parser| parser.parse_expr());
    expr.map_err(|e| Error::internal(format!("a default value as SQL: {e}")))
}
