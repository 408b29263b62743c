//! Predicates for less than the whole row: for some of the columns, and for the older types of a file.
//!
//! Every rewrite keeps at least the rows that the predicate keeps. A term that cannot be expressed becomes true, or false under
//! an odd number of NOTs, which is the same thing seen from outside.

use super::Predicate;
use super::fold::Node;
use crate::Result;
use crate::cast::{is_widening, narrow};
use crate::datum::Datum;
use crate::types::{DataField, DataType, Kind};

impl Predicate {
    /// The parts of a conjunction over nothing but columns that `inside` accepts, and the rest.
    pub fn split(self, inside: impl Fn(i32) -> bool) -> (Predicate, Predicate) {
        let (within, rest): (Vec<_>, Vec<_>) =
            self.conjuncts().into_iter().partition(|part| part.field_ids().into_iter().all(&inside));
        (Self::and(within), Self::and(rest))
    }

    /// A weaker predicate over nothing but columns that `keep` accepts: it is true for every row for which this one is.
    pub fn project(&self, keep: impl Fn(i32) -> bool) -> Predicate {
        self.weaken(|leaf| leaf.field_ids().into_iter().all(&keep).then(|| leaf.clone()))
    }

    /// A weaker predicate over the columns of a file in the file's types, or `Constant(true)` when nothing can be said.
    ///
    /// Columns are found by field id. A term stays when the file's type is the same, or when every value of the file's type
    /// is a value of the table's type and the literals exist in both (spec: cases F8).
    pub fn for_file(&self, table: &[DataField], file: &[DataField]) -> Predicate {
        self.weaken(|leaf| {
            if let Self::Computed(computed) = leaf {
                let same = |field: &DataField| {
                    file.iter().any(|f| f.id == field.id && f.data_type.kind == field.data_type.kind)
                };
                return computed.fields().iter().all(same).then(|| leaf.clone());
            }
            let Some(id) = leaf.field_id() else {
                return Some(leaf.clone());
            };
            let by_id = |fields: &[DataField]| fields.iter().find(|f| f.id == id).map(|f| f.data_type.clone());
            devolve(leaf, &by_id(table)?, &by_id(file)?)
        })
    }

    fn weaken(&self, mut leaf: impl FnMut(&Predicate) -> Option<Predicate>) -> Predicate {
        let leaf = |predicate: &Predicate, negated: bool| -> Result<Predicate> {
            Ok(leaf(predicate).unwrap_or(Predicate::Constant(!negated)))
        };
        let join = |node, mut parts: Vec<Predicate>| {
            Ok(match node {
                Node::And => Predicate::and(parts),
                Node::Or => Predicate::or(parts),
                Node::Not => match parts.pop() {
                    Some(Predicate::Constant(value)) => Predicate::Constant(!value),
                    Some(inner) => Predicate::Not(Box::new(inner)),
                    None => Predicate::Constant(true),
                },
            })
        };
        self.fold(leaf, join).unwrap_or(Predicate::Constant(true))
    }
}

/// The leaf in the file's type; `None` when it cannot be expressed.
fn devolve(leaf: &Predicate, table: &DataType, file: &DataType) -> Option<Predicate> {
    if table.kind == file.kind {
        return Some(leaf.clone());
    }
    if !is_widening(&file.kind, &table.kind) {
        return None;
    }
    let literal = |literal: &Datum| narrow(literal, &file.kind).filter(|_| is_told_apart(literal, &table.kind));
    Some(match leaf {
        Predicate::Compare { field_id, op, literal: value } => {
            Predicate::Compare { field_id: *field_id, op: *op, literal: literal(value)? }
        }
        Predicate::In { field_id, literals, negated } => {
            let literals = literals.iter().map(literal).collect::<Option<_>>()?;
            Predicate::In { field_id: *field_id, literals, negated: *negated }
        }
        Predicate::StartsWith { prefix, .. } if fits(prefix, &table.kind) => leaf.clone(),
        // A decimal beyond the table's type is read as null.
        Predicate::IsNull { .. } if !matches!(table.kind, Kind::Decimal { .. }) => leaf.clone(),
        _ => return None,
    })
}

/// Whether the literal compares with a value of the file as with the value that is read, which may be the first part of it.
fn is_told_apart(literal: &Datum, table: &Kind) -> bool {
    match (literal, table) {
        (Datum::String(text), Kind::Varchar(length)) => text.chars().count() < *length as usize,
        (Datum::Bytes(bytes), Kind::Varbinary(length)) => bytes.len() < *length as usize,
        _ => true,
    }
}

fn fits(prefix: &str, table: &Kind) -> bool {
    match table {
        Kind::Char(length) | Kind::Varchar(length) => prefix.chars().count() <= *length as usize,
        _ => true,
    }
}
