//! DataFusion's filters as Linn's predicates.

use datafusion::common::ScalarValue;
use datafusion::logical_expr::{BinaryExpr, Expr, Like, Operator, TableProviderFilterPushDown};
use linn::format::datum::Datum;
use linn::format::predicate::{CompareOp, Predicate};
use linn::format::types::{DataField, Kind};

/// What is made of filters that only leave out what is sure not to match.
pub(super) fn pushdown_loosely(filters: &[&Expr], fields: &[DataField]) -> Vec<TableProviderFilterPushDown> {
    let kind = |filter: &&Expr| match predicate(filter, fields) {
        Some(_) => TableProviderFilterPushDown::Inexact,
        None => TableProviderFilterPushDown::Unsupported,
    };
    filters.iter().map(kind).collect()
}

/// All of these at once; `None` when there are none.
pub(super) fn all(filters: Vec<Predicate>) -> Option<Predicate> {
    (!filters.is_empty()).then_some(Predicate::And(filters))
}

/// The predicate that means exactly the same, if there is one.
pub(crate) fn predicate(expr: &Expr, fields: &[DataField]) -> Option<Predicate> {
    match expr {
        Expr::BinaryExpr(binary) => self::binary(binary, fields),
        Expr::Not(inner) => Some(Predicate::Not(Box::new(predicate(inner, fields)?))),
        Expr::IsNull(inner) => Some(Predicate::IsNull { field_id: column(inner, fields)?.id, negated: false }),
        Expr::IsNotNull(inner) => Some(Predicate::IsNull { field_id: column(inner, fields)?.id, negated: true }),
        Expr::InList(list) => {
            let field = column(&list.expr, fields)?;
            let literals = list.list.iter().map(|e| literal(e, field)).collect::<Option<Vec<_>>>()?;
            Some(Predicate::In { field_id: field.id, literals, negated: list.negated })
        }
        Expr::Between(between) => {
            let field = column(&between.expr, fields)?;
            let low =
                Predicate::Compare { field_id: field.id, op: CompareOp::GtEq, literal: literal(&between.low, field)? };
            let high =
                Predicate::Compare { field_id: field.id, op: CompareOp::LtEq, literal: literal(&between.high, field)? };
            let both = Predicate::And(vec![low, high]);
            Some(if between.negated { Predicate::Not(Box::new(both)) } else { both })
        }
        Expr::Like(like) => starts_with(like, fields),
        Expr::Literal(ScalarValue::Boolean(Some(value)), _) => Some(Predicate::Constant(*value)),
        // `b = true` is planned as the column alone.
        Expr::Column(_) => {
            let field = column(expr, fields).filter(|field| field.data_type.kind == Kind::Boolean)?;
            let literal = Datum::Boolean(true);
            Some(Predicate::Compare { field_id: field.id, op: CompareOp::Eq, literal })
        }
        _ => None,
    }
}

fn binary(expr: &BinaryExpr, fields: &[DataField]) -> Option<Predicate> {
    let both = || Some(vec![predicate(&expr.left, fields)?, predicate(&expr.right, fields)?]);
    let op = match expr.op {
        Operator::And => return Some(Predicate::And(both()?)),
        Operator::Or => return Some(Predicate::Or(both()?)),
        Operator::Eq => CompareOp::Eq,
        Operator::NotEq => CompareOp::NotEq,
        Operator::Lt => CompareOp::Lt,
        Operator::LtEq => CompareOp::LtEq,
        Operator::Gt => CompareOp::Gt,
        Operator::GtEq => CompareOp::GtEq,
        _ => return None,
    };
    if let Some(field) = column(&expr.left, fields) {
        return Some(Predicate::Compare { field_id: field.id, op, literal: literal(&expr.right, field)? });
    }
    let field = column(&expr.right, fields)?;
    let op = match op {
        CompareOp::Lt => CompareOp::Gt,
        CompareOp::LtEq => CompareOp::GtEq,
        CompareOp::Gt => CompareOp::Lt,
        CompareOp::GtEq => CompareOp::LtEq,
        same => same,
    };
    Some(Predicate::Compare { field_id: field.id, op, literal: literal(&expr.left, field)? })
}

/// `column LIKE 'prefix%'`.
fn starts_with(like: &Like, fields: &[DataField]) -> Option<Predicate> {
    let field = column(&like.expr, fields).filter(|field| matches!(field.data_type.kind, Kind::Varchar(_)))?;
    let Expr::Literal(ScalarValue::Utf8(Some(pattern)) | ScalarValue::Utf8View(Some(pattern)), _) = &*like.pattern
    else {
        return None;
    };
    let prefix = pattern.strip_suffix('%').filter(|prefix| !prefix.contains(['%', '_', '\\']))?;
    if like.case_insensitive || like.escape_char.is_some() || prefix.is_empty() {
        return None;
    }
    let starts = Predicate::StartsWith { field_id: field.id, prefix: prefix.to_owned() };
    Some(if like.negated { Predicate::Not(Box::new(starts)) } else { starts })
}

fn column<'s>(expr: &Expr, fields: &'s [DataField]) -> Option<&'s DataField> {
    match expr {
        Expr::Column(column) => fields.iter().find(|field| field.name == column.name),
        _ => None,
    }
}

/// The literal as a value of the column's type; `None` when it is null or of another type.
fn literal(expr: &Expr, field: &DataField) -> Option<Datum> {
    let Expr::Literal(value, _) = expr else { return None };
    if value.is_null() || value.data_type() != linn::format::types::arrow_type(&field.data_type).ok()? {
        return None;
    }
    // Comparing floats has rules of its own for NaN and zero, which DataFusion and files need not share.
    if matches!(value, ScalarValue::Float32(_) | ScalarValue::Float64(_)) {
        return None;
    }
    Datum::from_array(value.to_array().ok()?.as_ref(), 0, &field.data_type).ok()?
}
