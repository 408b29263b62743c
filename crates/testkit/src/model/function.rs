//! Aggregate functions over JSON values (spec: features.md B3).

use std::cmp::Ordering;

use linn_format::schema::TableSchema;
use linn_format::types::{DataField, Kind};
use serde_json::{Value, json};

use super::value::{Sign, calculate, order};
use super::{names, option};

/// A function of one column.
#[derive(Debug, Clone)]
pub(super) struct Function {
    name: String,
    kind: Kind,
    ignore_retract: bool,
    distinct: bool,
    delimiter: String,
    nested_key: Vec<String>,
    nested_sequence: Vec<String>,
    ignore_null_keys: bool,
    limit: usize,
    time: Option<String>,
}

/// What a function has gathered.
#[derive(Debug, Clone, Default)]
pub(super) struct Accumulator {
    pub(super) value: Value,
    started: bool,
}

impl Function {
    pub(super) fn new(schema: &TableSchema, field: &DataField, name: &str) -> Self {
        let of = |key: &str| option(schema, &format!("fields.{}.{key}", field.name), "").to_owned();
        let time = of("ts-field");
        Self {
            name: name.to_owned(),
            kind: field.data_type.kind.clone(),
            ignore_retract: of("ignore-retract") == "true",
            distinct: of("distinct") == "true",
            delimiter: Some(of("list-agg-delimiter")).filter(|d| !d.is_empty()).unwrap_or_else(|| ",".to_owned()),
            nested_key: names(&of("nested-key")),
            nested_sequence: names(&of("nested-sequence-field")),
            ignore_null_keys: of("nested-key-null-strategy") == "ignore",
            limit: of("count-limit").parse().unwrap_or(usize::MAX),
            time: Some(time).filter(|t| !t.is_empty()),
        }
    }

    /// Whether what is taken back too early is owed.
    pub(super) fn owes(&self) -> bool {
        self.name == "sum" && !self.ignore_retract
    }

    /// A value arrives.
    pub(super) fn add(&self, to: &mut Accumulator, input: &Value) {
        to.value =
            if self.name == "first_value" && to.started { to.value.clone() } else { self.both(&to.value, input) };
        to.started = true;
    }

    /// A value arrives that belongs before what there is.
    pub(super) fn add_late(&self, to: &mut Accumulator, input: &Value) {
        to.value = match self.name.as_str() {
            "collect" => self.both(&to.value, input),
            "first_value" => input.clone(),
            "listagg" if input.as_str().is_some_and(|text| text.trim().is_empty()) => to.value.clone(),
            _ => self.both(input, &to.value),
        };
        to.started = true;
    }

    /// What is gathered and what comes.
    fn both(&self, acc: &Value, input: &Value) -> Value {
        match (self.name.as_str(), acc, input) {
            ("last_value" | "first_value", _, _) => input.clone(),
            ("listagg", _, _) => self.join(acc, input),
            ("collect", Value::Null, Value::Null) => Value::Null,
            ("collect", _, _) if self.distinct => {
                let mut all = Vec::new();
                for item in items(acc).iter().chain(items(input)) {
                    if !all.contains(item) {
                        all.push(item.clone());
                    }
                }
                Value::Array(all)
            }
            ("nested_update", _, Value::Null) => acc.clone(),
            ("nested_update", _, _) if self.nested_key.is_empty() => self.append(acc, input),
            ("nested_update", _, _) => self.upsert(acc, input),
            ("nested_partial_update", _, Value::Null) => acc.clone(),
            ("nested_partial_update", _, _) => self.fill(acc, input),
            (_, Value::Null, one) | (_, one, Value::Null) => one.clone(),
            ("last_non_null_value", _, _) => input.clone(),
            ("first_non_null_value" | "first_not_null_value", _, _) => acc.clone(),
            ("sum", _, _) => calculate(&self.kind, acc, Sign::Plus, input),
            ("product", _, _) => calculate(&self.kind, acc, Sign::Times, input),
            ("max", _, _) if order(Some(&self.kind), acc, input) == Ordering::Less => input.clone(),
            ("min", _, _) if order(Some(&self.kind), acc, input) != Ordering::Less => input.clone(),
            ("max" | "min", _, _) => acc.clone(),
            ("bool_and", _, _) => json!(*acc == json!(true) && *input == json!(true)),
            ("bool_or", _, _) => json!(*acc == json!(true) || *input == json!(true)),
            ("collect", _, _) => [items(acc), items(input)].concat().into(),
            ("merge_map", _, _) => put_all(items(acc), items(input)),
            ("merge_map_with_keytime", _, _) => self.put_newer(items(acc), items(input)),
            ("rbm32" | "rbm64" | "hll_sketch" | "theta_sketch", _, _) => {
                let mut all = [items(acc), items(input)].concat();
                all.sort_by_key(Value::to_string);
                all.dedup();
                all.into()
            }
            (other, _, _) => panic!("the model knows no function {other}"),
        }
    }

    /// A value is taken back.
    pub(super) fn retract(&self, from: &mut Accumulator, input: &Value) {
        if self.ignore_retract {
            return;
        }
        from.started = true;
        let acc = &from.value;
        from.value = match (self.name.as_str(), acc, input) {
            ("last_value", _, _) => Value::Null,
            ("last_non_null_value", _, Value::Null) => acc.clone(),
            ("last_non_null_value", _, _) => Value::Null,
            (_, _, Value::Null) => acc.clone(),
            ("sum", Value::Null, _) => calculate(&self.kind, &self.zero(), Sign::Minus, input),
            (_, Value::Null, _) => Value::Null,
            ("sum", _, _) => calculate(&self.kind, acc, Sign::Minus, input),
            ("product", _, _) => calculate(&self.kind, acc, Sign::Over, input),
            ("collect", _, _) => {
                let mut kept = items(acc).to_vec();
                for gone in items(input) {
                    if let Some(at) = kept.iter().position(|item| item == gone) {
                        kept.remove(at);
                    }
                }
                kept.into()
            }
            ("merge_map", _, _) => {
                let gone = |entry: &&Value| !items(input).iter().any(|g| g[0] == entry[0]);
                items(acc).iter().filter(gone).cloned().collect::<Vec<_>>().into()
            }
            ("nested_update", _, _) => {
                let there = |item: &&Value| !item.is_null() && self.counts(item);
                let gone = |item: &&Value| items(input).iter().filter(there).any(|g| self.same(g, item));
                items(acc).iter().filter(|item| there(item) && !gone(item)).cloned().collect::<Vec<_>>().into()
            }
            (other, _, _) => panic!("{other} takes nothing back"),
        };
    }

    fn zero(&self) -> Value {
        match self.kind {
            Kind::Decimal { .. } => json!("0"),
            Kind::Float | Kind::Double => json!(0.0),
            _ => json!(0),
        }
    }

    fn join(&self, acc: &Value, input: &Value) -> Value {
        let known = |v: &Value| v.as_str().map(str::to_owned).filter(|t| !t.trim().is_empty());
        let Some(new) = known(input) else { return acc.clone() };
        let Some(mut all) = known(acc) else { return input.clone() };
        for token in if self.distinct { new.split(self.delimiter.as_str()).collect() } else { vec![new.as_str()] } {
            let there = self.distinct && all.split(self.delimiter.as_str()).any(|t| t == token);
            let empty = self.distinct && token.trim().is_empty();
            if !there && !empty {
                all = format!("{all}{}{token}", self.delimiter);
            }
        }
        json!(all)
    }

    fn append(&self, acc: &Value, input: &Value) -> Value {
        if items(acc).len() >= self.limit {
            return acc.clone();
        }
        let room = self.limit - items(acc).len();
        let old = items(acc).iter().filter(|item| !item.is_null());
        let new = items(input).iter().filter(|item| !item.is_null()).take(room);
        old.chain(new).cloned().collect::<Vec<_>>().into()
    }

    /// Whether a nested row takes part.
    fn counts(&self, item: &Value) -> bool {
        !self.ignore_null_keys || self.nested_key.iter().all(|k| !item[k].is_null())
    }

    /// Whether two nested rows have the same key, or without a key are the same.
    fn same(&self, a: &Value, b: &Value) -> bool {
        if self.nested_key.is_empty() { a == b } else { self.nested_key.iter().all(|k| a[k] == b[k]) }
    }

    fn upsert(&self, acc: &Value, input: &Value) -> Value {
        let mut all: Vec<Value> = Vec::new();
        for (list, limit) in [(acc, usize::MAX), (input, self.limit)] {
            for item in items(list).iter().filter(|item| !item.is_null() && self.counts(item)) {
                match all.iter().position(|old| self.same(old, item)) {
                    Some(at) => {
                        let orders = self.nested_sequence.iter().map(|s| order(None, &item[s], &all[at][s]));
                        if orders.reduce(Ordering::then) != Some(Ordering::Less) {
                            all[at] = item.clone();
                        }
                    }
                    None if all.len() < limit => all.push(item.clone()),
                    None => {}
                }
            }
        }
        all.into()
    }

    fn fill(&self, acc: &Value, input: &Value) -> Value {
        let mut all: Vec<Value> = Vec::new();
        let rows = items(acc).iter().chain(items(input));
        for item in rows.filter(|item| !item.is_null() && self.counts(item)) {
            let Some(at) = all.iter().position(|old| self.same(old, item)) else {
                all.push(item.clone());
                continue;
            };
            let fields = item.as_object().into_iter().flatten();
            fields.filter(|(_, v)| !v.is_null()).for_each(|(name, v)| all[at][name] = v.clone());
        }
        all.into()
    }

    fn put_newer(&self, acc: &[Value], input: &[Value]) -> Value {
        let Kind::Map(_, entry) = &self.kind else { panic!("key times need a map") };
        let Kind::Row(fields) = &entry.kind else { panic!("key times need rows") };
        let last = fields.last().map(|f| f.name.clone()).unwrap_or_default();
        let time = self.time.as_ref().unwrap_or(&last);
        let mut all = acc.to_vec();
        for entry in input {
            let at = all.iter().position(|old| old[0] == entry[0]);
            match (at, &entry[1][time]) {
                (Some(at), _) if entry[1].is_null() => _ = all.remove(at),
                (_, Value::Null) => {}
                (Some(at), new) if order(None, new, &all[at][1][time]) == Ordering::Greater => all[at] = entry.clone(),
                (Some(_), _) => {}
                (None, _) => all.push(entry.clone()),
            }
        }
        all.into()
    }
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn put_all(acc: &[Value], input: &[Value]) -> Value {
    let mut all = acc.to_vec();
    for entry in input {
        match all.iter().position(|old| old[0] == entry[0]) {
            Some(at) => all[at] = entry.clone(),
            None => all.push(entry.clone()),
        }
    }
    all.into()
}
