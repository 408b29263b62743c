//! DataFusion's filters as Linn's predicates.

use datafusion::common::ScalarValue;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator, TableProviderFilterPushDown};
use linn::format::datum::Datum;
use linn::format::predicate::{CompareOp, Predicate};
use linn::format::schema::TableSchema;
use linn::format::types::DataField;

/// What a scan makes of filters: those that it applies, all or none of a filter.
pub(super) fn pushdown(filters: &[&Expr], schema: &TableSchema) -> Vec<TableProviderFilterPushDown> {
    let kind = |filter: &&Expr| match predicate(filter, schema) {
        Some(_) => TableProviderFilterPushDown::Exact,
        None => TableProviderFilterPushDown::Unsupported,
    };
    filters.iter().map(kind).collect()
}

/// All of these at once; `None` when there are none.
pub(super) fn all(filters: Vec<Predicate>) -> Option<Predicate> {
    (!filters.is_empty()).then_some(Predicate::And(filters))
}

/// The predicate that means exactly the same, if there is one.
pub(super) fn predicate(expr: &Expr, schema: &TableSchema) -> Option<Predicate> {
    match expr {
        Expr::BinaryExpr(binary) => self::binary(binary, schema),
        Expr::Not(inner) => Some(Predicate::Not(Box::new(predicate(inner, schema)?))),
        Expr::IsNull(inner) => Some(Predicate::IsNull { field_id: column(inner, schema)?.id, negated: false }),
        Expr::IsNotNull(inner) => Some(Predicate::IsNull { field_id: column(inner, schema)?.id, negated: true }),
        Expr::InList(list) => {
            let field = column(&list.expr, schema)?;
            let literals = list.list.iter().map(|e| literal(e, field)).collect::<Option<Vec<_>>>()?;
            Some(Predicate::In { field_id: field.id, literals, negated: list.negated })
        }
        Expr::Between(between) => {
            let field = column(&between.expr, schema)?;
            let low =
                Predicate::Compare { field_id: field.id, op: CompareOp::GtEq, literal: literal(&between.low, field)? };
            let high =
                Predicate::Compare { field_id: field.id, op: CompareOp::LtEq, literal: literal(&between.high, field)? };
            let both = Predicate::And(vec![low, high]);
            Some(if between.negated { Predicate::Not(Box::new(both)) } else { both })
        }
        Expr::Literal(ScalarValue::Boolean(Some(value)), _) => Some(Predicate::Constant(*value)),
        _ => None,
    }
}

fn binary(expr: &BinaryExpr, schema: &TableSchema) -> Option<Predicate> {
    let both = || Some(vec![predicate(&expr.left, schema)?, predicate(&expr.right, schema)?]);
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
    if let Some(field) = column(&expr.left, schema) {
        return Some(Predicate::Compare { field_id: field.id, op, literal: literal(&expr.right, field)? });
    }
    let field = column(&expr.right, schema)?;
    let op = match op {
        CompareOp::Lt => CompareOp::Gt,
        CompareOp::LtEq => CompareOp::GtEq,
        CompareOp::Gt => CompareOp::Lt,
        CompareOp::GtEq => CompareOp::LtEq,
        same => same,
    };
    Some(Predicate::Compare { field_id: field.id, op, literal: literal(&expr.left, field)? })
}

fn column<'s>(expr: &Expr, schema: &'s TableSchema) -> Option<&'s DataField> {
    match expr {
        Expr::Column(column) => schema.field(&column.name),
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
