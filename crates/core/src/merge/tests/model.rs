//! Merge engines as plain loops over rows.

use std::collections::BTreeMap;

use super::{Row, Value};

/// What a table's options say, in the model's words. Column 0 is the key.
#[derive(Debug, Clone, Default)]
pub(super) struct Model {
    pub(super) engine: Engine,
    /// Columns of the user sequence, and whether it is descending.
    pub(super) sequence: Vec<usize>,
    pub(super) descending: bool,
    pub(super) ignore_delete: bool,
}

#[derive(Debug, Clone, Default)]
pub(super) enum Engine {
    #[default]
    Deduplicate,
    FirstRow,
    /// Groups of (sequence columns, protected columns); remove on delete.
    Partial(Vec<(Vec<usize>, Vec<usize>)>, bool),
    /// Function per column after the key; remove on delete.
    Aggregate(Vec<Function>, bool),
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Function {
    Sum,
    Max,
    Min,
    Last,
    LastNonNull,
    First,
    FirstNonNull,
    ListAgg,
}

impl Model {
    /// Folds records (with sequence numbers all different) into one row per key.
    pub(super) fn fold(&self, records: &[Row], keep_deletes: bool) -> Vec<Row> {
        let mut by_key: BTreeMap<Option<Value>, Vec<Row>> = BTreeMap::new();
        for record in records {
            by_key.entry(record.values[0].clone()).or_default().push(record.clone());
        }
        let mut result = Vec::new();
        for (_, mut group) in by_key {
            group.sort_by(|a, b| self.order(a, b));
            let merged = if group.len() == 1 { group.pop() } else { self.merge(group) };
            result.extend(merged.filter(|r| keep_deletes || r.kind == 0 || r.kind == 2));
        }
        result
    }

    /// Whether several retractions may be one.
    pub(super) fn takes_together(&self) -> bool {
        matches!(self.engine, Engine::Aggregate(..) | Engine::Partial(_, true))
    }

    pub(super) fn order(&self, a: &Row, b: &Row) -> std::cmp::Ordering {
        for &c in &self.sequence {
            let (x, y) = (&a.values[c], &b.values[c]);
            let order = match (x, y) {
                (Some(_), Some(_)) if self.descending => y.cmp(x),
                _ => x.cmp(y),
            };
            if order.is_ne() {
                return order;
            }
        }
        a.sequence.cmp(&b.sequence)
    }

    fn merge(&self, mut group: Vec<Row>) -> Option<Row> {
        if self.ignore_delete {
            group.retain(|r| r.kind == 0 || r.kind == 2);
        }
        if group.len() < 2 {
            return group.pop();
        }
        match &self.engine {
            Engine::Deduplicate => group.pop(),
            Engine::FirstRow => Some(group.swap_remove(0)),
            Engine::Partial(groups, remove) => Some(partial(groups, *remove, &group)),
            Engine::Aggregate(functions, remove) => aggregate(functions, *remove, &group),
        }
    }
}

fn partial(groups: &[(Vec<usize>, Vec<usize>)], remove: bool, records: &[Row]) -> Row {
    let width = records[0].values.len();
    let mut row: Vec<Option<Value>> = vec![None; width];
    let (mut sequence, mut kind) = (0, 3);
    for record in records {
        sequence = record.sequence;
        if record.kind == 3 && remove {
            row = record.values.clone();
            kind = 3;
            continue;
        }
        if record.kind == 1 && remove {
            if sequence == records[0].sequence {
                row = record.values.clone();
            }
            continue;
        }
        if kind == 3 {
            row = vec![None; width];
        }
        kind = 0;
        for (c, (old, new)) in row.iter_mut().zip(&record.values).enumerate() {
            let of_group = groups.iter().any(|(s, p)| s.contains(&c) || p.contains(&c));
            if !of_group && new.is_some() {
                old.clone_from(new);
            }
        }
        for (sequence, protected) in groups {
            let new: Vec<_> = sequence.iter().map(|&c| record.values[c].clone()).collect();
            let old: Vec<_> = sequence.iter().map(|&c| row[c].clone()).collect();
            if new.iter().any(Option::is_some) && new >= old {
                for &c in sequence.iter().chain(protected) {
                    row[c] = record.values[c].clone();
                }
            }
        }
    }
    Row { values: row, sequence, kind }
}

fn aggregate(functions: &[Function], remove: bool, records: &[Row]) -> Option<Row> {
    let from = records.iter().rposition(|r| remove && r.kind == 3).map_or(0, |at| at + 1);
    let live = &records[from..];
    let mut row = live.last()?.clone();
    if live.len() == 1 || live.iter().all(|r| r.kind % 2 == 1) {
        return Some(row);
    }
    row.kind = 0;
    for (i, function) in functions.iter().enumerate() {
        let mut acc: Option<Value> = None;
        for (at, record) in live.iter().enumerate() {
            let input = record.values[i + 1].clone();
            acc = match record.kind % 2 {
                0 => function.add(acc, at == 0, input),
                _ => function.take_back(acc, input),
            };
        }
        row.values[i + 1] = acc;
    }
    Some(row)
}

fn number(value: Value) -> i64 {
    match value {
        Value::Int(v) => v,
        Value::Text(_) => panic!("no number"),
    }
}

fn words(value: Value) -> String {
    match value {
        Value::Text(t) => t,
        Value::Int(v) => v.to_string(),
    }
}

impl Function {
    fn add(self, acc: Option<Value>, first: bool, input: Option<Value>) -> Option<Value> {
        match (self, acc, input) {
            (Self::Last, _, input) => input,
            (Self::First, acc, input) => {
                if first {
                    input
                } else {
                    acc
                }
            }
            (Self::ListAgg, acc, Some(input)) if words(input.clone()).is_empty() => acc,
            (_, acc, None) => acc,
            (_, None, input) => input,
            (Self::LastNonNull, _, input) => input,
            (Self::FirstNonNull, acc, _) => acc,
            (Self::Max, acc, input) => acc.max(input),
            (Self::Min, acc, input) => acc.min(input),
            (Self::Sum, Some(a), Some(b)) => Some(Value::Int(number(a) + number(b))),
            (Self::ListAgg, Some(a), Some(b)) => Some(Value::Text(format!("{},{}", words(a), words(b)))),
        }
    }

    fn take_back(self, acc: Option<Value>, input: Option<Value>) -> Option<Value> {
        match (self, acc, input) {
            (Self::Sum, acc, Some(input)) => Some(Value::Int(acc.map_or(0, number) - number(input))),
            (Self::Last, ..) | (Self::LastNonNull, _, Some(_)) => None,
            (Self::Sum | Self::LastNonNull, acc, None) => acc,
            _ => panic!("the function takes nothing back"),
        }
    }
}
