//! Merge engines: what the records of one key become.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use linn_format::schema::TableSchema;
use linn_format::types::Kind;
use serde_json::Value;

use super::function::{Accumulator, Function};
use super::{Record, Row, is_on, names, option, value};

/// A merge engine and its options.
#[derive(Debug, Clone)]
pub(super) enum Rule {
    Last,
    First,
    Partial { groups: Vec<Group>, plain: Vec<String>, removes: bool, blank: Row },
    Aggregate { functions: BTreeMap<String, Function>, removes: bool },
}

/// Columns that follow others.
#[derive(Debug, Clone)]
pub(super) struct Group {
    sequence: Vec<(String, Kind)>,
    plain: Vec<String>,
    functions: BTreeMap<String, Function>,
    removes: bool,
}

impl Rule {
    pub(super) fn of(schema: &TableSchema) -> Self {
        match option(schema, "merge-engine", "deduplicate") {
            "deduplicate" => Self::Last,
            "first-row" => Self::First,
            "partial-update" => partial(schema),
            "aggregation" => {
                let values = schema.fields.iter().filter(|f| !schema.primary_keys.contains(&f.name));
                let sequence = names(option(schema, "sequence.field", ""));
                let function = |name: &String| match sequence.contains(name) {
                    true => "last_value".to_owned(),
                    false => function_of(schema, name).unwrap_or_else(|| "last_non_null_value".to_owned()),
                };
                Self::Aggregate {
                    functions: values.map(|f| (f.name.clone(), Function::new(schema, f, &function(&f.name)))).collect(),
                    removes: is_on(schema, "aggregation.remove-record-on-delete"),
                }
            }
            other => panic!("the model knows no merge engine {other}"),
        }
    }

    /// The row that two or more records in order leave, if any.
    pub(super) fn fold(&self, records: &[&Record]) -> Option<Row> {
        match self {
            Self::Last => records.last().filter(|r| !r.is_retract()).map(|r| r.row.clone()),
            Self::First => records.first().map(|r| r.row.clone()),
            Self::Partial { groups, plain, removes, blank } => fill_up(records, groups, plain, *removes, blank),
            Self::Aggregate { functions, removes } => aggregate(records, functions, *removes),
        }
    }
}

fn function_of(schema: &TableSchema, column: &str) -> Option<String> {
    let own = schema.options.raw(&format!("fields.{column}.aggregate-function"));
    own.or_else(|| schema.options.raw("fields.default-aggregate-function")).map(str::to_owned)
}

fn partial(schema: &TableSchema) -> Rule {
    let removing = names(option(schema, "partial-update.remove-record-on-sequence-group", ""));
    let field =
        |name: &String| schema.fields.iter().find(|f| f.name == *name).unwrap_or_else(|| panic!("no column {name}"));
    let mut groups = Vec::new();
    let mut grouped = schema.primary_keys.clone();
    for (key, columns) in schema.options.iter() {
        let Some(sequence) = key.strip_prefix("fields.").and_then(|k| k.strip_suffix(".sequence-group")) else {
            continue;
        };
        let (sequence, columns) = (names(sequence), names(columns));
        grouped.extend(sequence.iter().chain(&columns).cloned());
        let (with, without): (Vec<_>, Vec<_>) = columns.into_iter().partition(|c| function_of(schema, c).is_some());
        let functions = with.into_iter().map(|c| {
            let function = function_of(schema, &c).unwrap_or_default();
            let function = Function::new(schema, field(&c), &function);
            (c, function)
        });
        groups.push(Group {
            removes: sequence.iter().any(|s| removing.contains(s)),
            functions: functions.collect(),
            plain: without,
            sequence: sequence.into_iter().map(|s| (s.clone(), field(&s).data_type.kind.clone())).collect(),
        });
    }
    let all = schema.fields.iter().map(|f| f.name.clone());
    Rule::Partial {
        groups,
        plain: all.clone().filter(|c| !grouped.contains(c)).collect(),
        removes: is_on(schema, "partial-update.remove-record-on-delete"),
        blank: all.map(|c| (c, Value::Null)).collect(),
    }
}

/// What a partial update has gathered.
struct Filling {
    row: Row,
    accumulators: BTreeMap<String, Accumulator>,
    /// Whether there is a row, not only what was taken back.
    there: bool,
    /// What removed the row that was there, until another comes.
    removal: Option<Row>,
    /// The records since then that counted.
    since: Vec<Row>,
}

fn fill_up(records: &[&Record], groups: &[Group], plain: &[String], removes: bool, blank: &Row) -> Option<Row> {
    let empty = || Filling {
        row: blank.clone(),
        accumulators: BTreeMap::new(),
        there: false,
        removal: None,
        since: Vec::new(),
    };
    let mut now = empty();
    for record in records {
        let removal = now.removal.clone().filter(|_| !now.there);
        if !record.is_retract() {
            if removal.is_some_and(|removal| groups.iter().any(|group| group.is_before(&record.row, &removal))) {
                // What belongs before the removal stays removed.
                continue;
            }
            now.there = true;
            for column in plain.iter().filter(|c| !record.row[c.as_str()].is_null()) {
                now.row[column] = record.row[column].clone();
            }
            groups.iter().for_each(|group| group.add(&mut now, &record.row));
        } else if removes && record.kind == 3 || groups.iter().any(|group| group.removes_now(&now, record)) {
            // A removed row starts from nothing, but what comes later is compared with what removed it.
            now = empty();
            now.removal = Some(record.row.clone());
            groups.iter().for_each(|group| group.move_on(&mut now, &record.row));
            continue;
        } else if removal.is_some() {
            continue;
        } else {
            groups.iter().for_each(|group| group.take_back(&mut now, record));
        }
        now.since.push(record.row.clone());
    }
    let goes_on = |group: &Group, removal: &Row, one: &Row| {
        group.skips(removal) || !group.skips(one) && group.order(one, removal) != Ordering::Less
    };
    let alone = |removal: &Row, one: &Row| groups.iter().all(|group| goes_on(group, removal, one));
    if let (Some(removal), [one]) = (&now.removal, now.since.as_slice())
        && alone(removal, one)
    {
        return Some(one.clone());
    }
    if let Some(last) = now.since.last().filter(|_| now.there).cloned() {
        let known = |c: &String| plain.contains(c) || groups.iter().any(|g| g.has(c));
        for (column, value) in last.iter().filter(|(c, _)| !known(c)) {
            now.row[column] = value.clone();
        }
        for (column, accumulator) in now.accumulators {
            now.row[&column] = accumulator.value;
        }
        return Some(now.row);
    }
    None
}

impl Group {
    fn has(&self, column: &String) -> bool {
        self.plain.contains(column)
            || self.functions.contains_key(column)
            || self.sequence.iter().any(|(s, _)| s == column)
    }

    /// Whether a row has no sequence.
    fn skips(&self, row: &Row) -> bool {
        self.sequence.iter().all(|(s, _)| row[s].is_null())
    }

    fn order(&self, a: &Row, b: &Row) -> Ordering {
        let orders = self.sequence.iter().map(|(s, kind)| value::order(Some(kind), &a[s], &b[s]));
        orders.fold(Ordering::Equal, Ordering::then)
    }

    /// Whether the sequence of a row is not less than what was seen; `None` when it has none.
    fn is_newer(&self, now: &Filling, row: &Row) -> Option<bool> {
        (!self.skips(row)).then(|| self.order(row, &now.row) != Ordering::Less)
    }

    /// Whether a row belongs before what removed the one that was there.
    fn is_before(&self, row: &Row, removal: &Row) -> bool {
        self.removes && !self.skips(row) && !self.skips(removal) && self.order(row, removal) == Ordering::Less
    }

    /// Whether a record removes the whole row.
    fn removes_now(&self, now: &Filling, record: &Record) -> bool {
        self.removes && record.kind == 3 && self.is_newer(now, &record.row) == Some(true)
    }

    fn move_on(&self, now: &mut Filling, row: &Row) {
        for (column, _) in &self.sequence {
            now.row[column] = row[column].clone();
        }
    }

    fn add(&self, now: &mut Filling, row: &Row) {
        let Some(newer) = self.is_newer(now, row) else { return };
        for (column, function) in &self.functions {
            let accumulator = now.accumulators.entry(column.clone()).or_default();
            if newer { function.add(accumulator, &row[column]) } else { function.add_late(accumulator, &row[column]) }
        }
        if newer {
            self.move_on(now, row);
            self.plain.iter().for_each(|column| now.row[column] = row[column].clone());
        }
    }

    fn take_back(&self, now: &mut Filling, record: &Record) {
        let Some(newer) = self.is_newer(now, &record.row) else { return };
        for (column, function) in &self.functions {
            function.retract(now.accumulators.entry(column.clone()).or_default(), &record.row[column]);
        }
        if newer {
            self.move_on(now, &record.row);
            self.plain.iter().for_each(|column| now.row[column] = Value::Null);
        }
    }
}

fn aggregate(records: &[&Record], functions: &BTreeMap<String, Function>, removes: bool) -> Option<Row> {
    // What came before a delete is as if it had never been.
    let from = records.iter().rposition(|r| removes && r.kind == 3).map_or(0, |at| at + 1);
    let mut records = &records[from..];
    let last = records.last()?;
    // What is taken back before there is a row is owed by the row that comes, by a sum.
    let first = records.iter().position(|r| !r.is_retract())?;
    if !functions.values().any(Function::owes) {
        records = &records[first..];
    }
    if let [one] = records {
        return Some(one.row.clone());
    }
    let mut row = last.row.clone();
    for (column, function) in functions {
        let mut accumulator = Accumulator::default();
        for record in records {
            let input = &record.row[column];
            if record.is_retract() {
                function.retract(&mut accumulator, input);
            } else {
                function.add(&mut accumulator, input);
            }
        }
        row[column] = accumulator.value;
    }
    Some(row)
}
