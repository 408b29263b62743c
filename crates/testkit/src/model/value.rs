//! Order and arithmetic of JSON values by the type of their column.

use std::cmp::Ordering;

use linn_format::types::Kind;
use serde_json::{Value, json};

use crate::render::decimal;

/// Nulls first, then by value.
pub(super) fn order(kind: Option<&Kind>, a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::Null, Value::Null) => Ordering::Equal,
        (Value::Null, _) => Ordering::Less,
        (_, Value::Null) => Ordering::Greater,
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::Number(_), Value::Number(_)) => number(a).total_cmp(&number(b)),
        (Value::String(_), Value::String(_)) if matches!(kind, Some(Kind::Decimal { .. })) => {
            unscaled(a).cmp(&unscaled(b))
        }
        // Text, times and hexadecimal bytes are ordered as their texts.
        (Value::String(a), Value::String(b)) => a.as_bytes().cmp(b.as_bytes()),
        _ => panic!("{a} and {b} have no order"),
    }
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn unscaled(value: &Value) -> i128 {
    let text = value.as_str().unwrap_or_else(|| panic!("{value} is no decimal"));
    text.replace('.', "").parse().unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// The four operations of arithmetic.
#[derive(Debug, Clone, Copy)]
pub(super) enum Sign {
    Plus,
    Minus,
    Times,
    Over,
}

/// Two numbers that are not null, by the arithmetic of their column.
///
/// # Panics
/// When the result is none: tests choose values that have one.
pub(super) fn calculate(kind: &Kind, a: &Value, sign: Sign, b: &Value) -> Value {
    match kind {
        Kind::Float | Kind::Double => {
            let (a, b) = (number(a), number(b));
            json!(match sign {
                Sign::Plus => a + b,
                Sign::Minus => a - b,
                Sign::Times => a * b,
                Sign::Over => a / b,
            })
        }
        Kind::Decimal { scale, .. } => {
            let one = 10i128.pow(u32::from(*scale));
            let (a, b) = (unscaled(a), unscaled(b));
            let exact = |dividend: i128, divisor: i128| {
                assert_eq!(dividend % divisor, 0, "{dividend} / {divisor} has to be rounded");
                dividend / divisor
            };
            let result = match sign {
                Sign::Plus => a + b,
                Sign::Minus => a - b,
                Sign::Times => exact(a * b, one),
                Sign::Over => exact(a * one, b),
            };
            json!(decimal(result, usize::from(*scale)))
        }
        _ => {
            let int = |v: &Value| v.as_i64().unwrap_or_else(|| panic!("{v} is no integer"));
            let (a, b) = (int(a), int(b));
            json!(match sign {
                Sign::Plus => a + b,
                Sign::Minus => a - b,
                Sign::Times => a * b,
                Sign::Over => a / b,
            })
        }
    }
}
