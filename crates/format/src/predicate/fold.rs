//! Building predicates, and walking over them without recursion.

use std::collections::BTreeSet;

use super::Predicate;
use crate::Result;

/// The connective of an inner node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Node {
    And,
    Or,
    Not,
}

impl Predicate {
    /// The conjunction, flattened and without constants; true when there are no parts.
    pub fn and(parts: impl IntoIterator<Item = Predicate>) -> Self {
        let mut flat = Vec::new();
        for part in parts {
            match part {
                Self::Constant(true) => {}
                Self::Constant(false) => return part,
                Self::And(inner) => flat.extend(inner),
                other => flat.push(other),
            }
        }
        match flat.len() {
            0 => Self::Constant(true),
            1 => flat.swap_remove(0),
            _ => Self::And(flat),
        }
    }

    /// The disjunction, flattened and without constants; false when there are no parts.
    pub fn or(parts: impl IntoIterator<Item = Predicate>) -> Self {
        let mut flat = Vec::new();
        for part in parts {
            match part {
                Self::Constant(false) => {}
                Self::Constant(true) => return part,
                Self::Or(inner) => flat.extend(inner),
                other => flat.push(other),
            }
        }
        match flat.len() {
            0 => Self::Constant(false),
            1 => flat.swap_remove(0),
            _ => Self::Or(flat),
        }
    }

    /// The parts of which all must be true.
    pub fn conjuncts(self) -> Vec<Predicate> {
        match self {
            Self::Constant(true) => Vec::new(),
            Self::And(parts) => parts,
            other => vec![other],
        }
    }

    /// The field ids that occur, ascending.
    pub fn field_ids(&self) -> BTreeSet<i32> {
        let mut ids = BTreeSet::new();
        let mut open = vec![self];
        while let Some(predicate) = open.pop() {
            match predicate {
                Self::And(parts) | Self::Or(parts) => open.extend(parts),
                Self::Not(inner) => open.push(inner),
                Self::Computed(computed) => ids.extend(computed.fields().iter().map(|field| field.id)),
                leaf => ids.extend(leaf.field_id()),
            }
        }
        ids
    }

    /// The field of a leaf.
    pub(super) fn field_id(&self) -> Option<i32> {
        match self {
            Self::Compare { field_id, .. }
            | Self::In { field_id, .. }
            | Self::IsNull { field_id, .. }
            | Self::StartsWith { field_id, .. } => Some(*field_id),
            _ => None,
        }
    }

    /// Computes bottom-up: `leaf` at the leaves, told whether an odd number of NOTs is above; `join` at inner nodes.
    pub(super) fn fold<'a, T>(
        &'a self,
        mut leaf: impl FnMut(&'a Predicate, bool) -> Result<T>,
        mut join: impl FnMut(Node, Vec<T>) -> Result<T>,
    ) -> Result<T> {
        struct Open<'a, T> {
            node: Node,
            negated: bool,
            rest: std::slice::Iter<'a, Predicate>,
            done: Vec<T>,
        }
        let mut stack: Vec<Open<'a, T>> = Vec::new();
        let mut next = Some((self, false));
        let mut value = None;
        loop {
            if let Some((predicate, negated)) = next.take() {
                let (node, parts): (_, &[Predicate]) = match predicate {
                    Self::And(parts) => (Node::And, parts),
                    Self::Or(parts) => (Node::Or, parts),
                    Self::Not(inner) => (Node::Not, std::slice::from_ref(&**inner)),
                    other => {
                        value = Some(leaf(other, negated)?);
                        (Node::And, &[])
                    }
                };
                if value.is_none() {
                    let negated = negated != (node == Node::Not);
                    stack.push(Open { node, negated, rest: parts.iter(), done: Vec::with_capacity(parts.len()) });
                }
            }
            let Some(top) = stack.last_mut() else {
                return value.ok_or_else(|| crate::Error::internal("a predicate had no value"));
            };
            top.done.extend(value.take());
            match top.rest.next() {
                Some(part) => next = Some((part, top.negated)),
                None => {
                    let Open { node, done, .. } = stack.pop().ok_or_else(|| crate::Error::internal("empty stack"))?;
                    value = Some(join(node, done)?);
                }
            }
        }
    }
}
