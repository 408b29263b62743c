//! Filters with three-valued logic, and the predicates that say the same to the engine.

use std::cmp::Ordering;

use linn_format::datum::Datum;
use linn_format::predicate::{CompareOp, Predicate};
use linn_format::types::{DataField, Kind};
use serde_json::{Value, json};

use super::{Row, value};
use crate::parse;

/// A comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// `=`
    Equal,
    /// `<>`
    Unequal,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

/// A filter over columns by name: numbers without a fraction, and what is ordered as its text is.
#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    /// The column compared with a value that is not null.
    Compare(String, Op, Value),
    /// The column is one of the values, or none of them.
    In(String, Vec<Value>, bool),
    /// The column is null, or is not.
    Null(String, bool),
    /// The text begins so.
    Prefix(String, String),
    /// All hold.
    And(Vec<Test>),
    /// One holds.
    Or(Vec<Test>),
    /// It does not hold.
    Not(Box<Test>),
}

impl Test {
    /// Whether there are filters over columns of this type.
    pub fn takes(kind: &Kind) -> bool {
        matches!(
            kind,
            Kind::Int
                | Kind::BigInt
                | Kind::Varchar(_)
                | Kind::Char(_)
                | Kind::Varbinary(_)
                | Kind::Date
                | Kind::Timestamp(_)
        )
    }

    /// Whether it holds; unknown where nulls leave it open.
    pub fn holds(&self, row: &Row) -> Option<bool> {
        let column = |name: &String| row.get(name).filter(|v| !v.is_null());
        match self {
            Self::Compare(name, op, literal) => {
                let order = value::order(None, column(name)?, literal);
                Some(match op {
                    Op::Equal => order == Ordering::Equal,
                    Op::Unequal => order != Ordering::Equal,
                    Op::Less => order == Ordering::Less,
                    Op::LessOrEqual => order != Ordering::Greater,
                    Op::Greater => order == Ordering::Greater,
                    Op::GreaterOrEqual => order != Ordering::Less,
                })
            }
            Self::In(name, literals, negated) => Some(literals.contains(column(name)?) != *negated),
            Self::Null(name, negated) => Some(column(name).is_none() != *negated),
            Self::Prefix(name, prefix) => Some(column(name)?.as_str()?.starts_with(prefix.as_str())),
            Self::And(tests) => {
                let all: Vec<_> = tests.iter().map(|t| t.holds(row)).collect();
                if all.contains(&Some(false)) { Some(false) } else { (!all.contains(&None)).then_some(true) }
            }
            Self::Or(tests) => {
                let all: Vec<_> = tests.iter().map(|t| t.holds(row)).collect();
                if all.contains(&Some(true)) { Some(true) } else { (!all.contains(&None)).then_some(false) }
            }
            Self::Not(test) => test.holds(row).map(|held| !held),
        }
    }

    /// The same for the engine.
    ///
    /// # Panics
    /// When a column is absent or of another type than those above.
    pub fn predicate(&self, fields: &[DataField]) -> Predicate {
        let field =
            |name: &String| fields.iter().find(|f| f.name == *name).unwrap_or_else(|| panic!("no column {name}"));
        let all = |tests: &Vec<Self>| tests.iter().map(|t| t.predicate(fields)).collect();
        match self {
            Self::Compare(name, op, literal) => {
                let field = field(name);
                Predicate::Compare { field_id: field.id, op: op.of_engine(), literal: datum(field, literal) }
            }
            Self::In(name, literals, negated) => {
                let field = field(name);
                let literals = literals.iter().map(|l| datum(field, l)).collect();
                Predicate::In { field_id: field.id, literals, negated: *negated }
            }
            Self::Null(name, negated) => Predicate::IsNull { field_id: field(name).id, negated: *negated },
            Self::Prefix(name, prefix) => Predicate::StartsWith { field_id: field(name).id, prefix: prefix.clone() },
            Self::And(tests) => Predicate::And(all(tests)),
            Self::Or(tests) => Predicate::Or(all(tests)),
            Self::Not(test) => Predicate::Not(Box::new(test.predicate(fields))),
        }
    }
}

impl Op {
    fn of_engine(self) -> CompareOp {
        match self {
            Self::Equal => CompareOp::Eq,
            Self::Unequal => CompareOp::NotEq,
            Self::Less => CompareOp::Lt,
            Self::LessOrEqual => CompareOp::LtEq,
            Self::Greater => CompareOp::Gt,
            Self::GreaterOrEqual => CompareOp::GtEq,
        }
    }
}

fn datum(field: &DataField, value: &Value) -> Datum {
    let int = || value.as_i64().unwrap_or_else(|| panic!("{value} is no integer"));
    match field.data_type.kind {
        Kind::Int => Datum::Int(i32::try_from(int()).unwrap_or_else(|e| panic!("{value}: {e}"))),
        Kind::BigInt => Datum::BigInt(int()),
        Kind::Varchar(_) | Kind::Char(_) => Datum::String(value.as_str().unwrap_or_default().to_owned()),
        _ => {
            let row = json!({ field.name.clone(): value });
            let (batch, _) = parse::rows(&[row], std::slice::from_ref(field));
            let datum = Datum::from_array(batch.column(0), 0, &field.data_type);
            datum.ok().flatten().unwrap_or_else(|| panic!("{value} is no {}", field.data_type))
        }
    }
}
