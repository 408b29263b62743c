//! Ten rounds on one table of each merge engine: Linn and Java write and compact in turns, and both read the same rows after
//! every turn. What the rows must be says a model that folds them one by one.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::linn::Ring;

/// What a key's row becomes with another record of the key; `None` when it is gone.
type Fold = fn(Option<&Value>, &Value) -> Option<Value>;

/// The records of a key in a turn; its row as it is may decide.
type Make = fn(i64, i64, Option<&Value>) -> Value;

struct Model {
    rows: BTreeMap<i64, Value>,
    fold: Fold,
    make: Make,
}

impl Model {
    /// The records of a turn, each key once; the model has taken them.
    fn turn(&mut self, turn: i64) -> Vec<Value> {
        let from = (turn * 17) % 60;
        let keys = from..from + 40;
        let records: Vec<Value> = keys.map(|k| (self.make)(k, turn, self.rows.get(&k))).collect();
        for record in &records {
            let key = record["k"].as_i64().unwrap();
            match (self.fold)(self.rows.get(&key), record) {
                Some(row) => _ = self.rows.insert(key, row),
                None => _ = self.rows.remove(&key),
            }
        }
        records
    }

    fn rows(&self) -> Vec<Value> {
        self.rows.values().cloned().collect()
    }
}

/// Numbers that look as if by chance.
fn dice(k: i64, turn: i64, sides: i64) -> i64 {
    (k * 7919 + turn * 104_729 + k * turn * 31).rem_euclid(997) % sides
}

fn schema(columns: &[(&str, Value)], options: &Value) -> Value {
    let mut fields = vec![json!({ "id": 0, "name": "k", "type": "INT NOT NULL" })];
    fields.extend((1..).zip(columns).map(|(id, (name, sql))| json!({ "id": id, "name": name, "type": sql })));
    let mut all = json!({ "bucket": "2", "num-sorted-run.compaction-trigger": "3" });
    for (key, value) in options.as_object().unwrap() {
        all[key] = value.clone();
    }
    json!({ "fields": fields, "partitionKeys": [], "primaryKeys": ["k"], "options": all })
}

fn ten_rounds(schema: &Value, fold: Fold, make: Make) {
    let Some(mut ring) = Ring::new(schema, []) else { return };
    let mut model = Model { rows: BTreeMap::new(), fold, make };
    for round in 0..10 {
        ring.write(&model.turn(2 * round));
        if round % 3 == 1 {
            ring.compact(round % 2 == 0);
        }
        ring.check(&format!("round {round}: Linn's turn"), &model.rows());
        let records = model.turn(2 * round + 1);
        match round % 3 {
            0 => ring.java_appends(&records),
            compacts => ring.java_compacts_too(&records, compacts == 1),
        }
        ring.check(&format!("round {round}: Java's turn"), &model.rows());
    }
    ring.compact(true);
    ring.check("all compacted", &model.rows());
}

fn text(k: i64, turn: i64) -> Value {
    if dice(k, turn, 4) == 0 { Value::Null } else { json!(format!("{k} in turn {turn}")) }
}

#[test]
fn the_last_record_by_a_sequence() {
    let columns = [("seq", json!("BIGINT")), ("v", json!("STRING"))];
    ten_rounds(
        &schema(&columns, &json!({ "sequence.field": "seq" })),
        |old, new| match old {
            // Of equal ones the later stands; null is before all others.
            Some(old) if old["seq"].as_i64() > new["seq"].as_i64() => Some(old.clone()),
            _ => Some(new.clone()),
        },
        |k, turn, _| {
            let sequence = (dice(k, turn, 6) > 0).then(|| dice(k, turn, 40));
            json!({ "k": k, "seq": sequence, "v": text(k, turn) })
        },
    );
}

#[test]
fn the_last_record_or_none() {
    let columns = [("v", json!("STRING"))];
    ten_rounds(
        &schema(&columns, &json!({})),
        |_, new| (new["_kind"] == "+I").then(|| json!({ "k": new["k"], "v": new["v"] })),
        |k, turn, _| {
            let kind = if dice(k, turn, 5) == 0 { "-D" } else { "+I" };
            json!({ "k": k, "v": text(k, turn), "_kind": kind })
        },
    );
}

/// Both find a key in the bucket of each function.
#[test]
fn buckets_of_every_function() {
    for (function, key) in [("mod", "INT NOT NULL"), ("mod", "BIGINT NOT NULL"), ("hive", "INT NOT NULL")] {
        let options = json!({ "bucket": "3", "bucket-key": "k", "bucket-function.type": function });
        let mut schema = schema(&[("v", json!("STRING"))], &options);
        schema["fields"][0]["type"] = json!(key);
        ten_rounds(&schema, |_, new| Some(new.clone()), |k, turn, _| json!({ "k": k - 30, "v": text(k, turn) }));
    }
}

#[test]
fn the_first_record() {
    let columns = [("v", json!("STRING"))];
    ten_rounds(
        &schema(&columns, &json!({ "merge-engine": "first-row" })),
        |old, new| Some(old.unwrap_or(new).clone()),
        |k, turn, _| json!({ "k": k + turn, "v": text(k, turn) }),
    );
}

fn sum(old: &Value, new: &Value) -> Value {
    match (old.as_i64(), new.as_i64()) {
        (Some(old), Some(new)) => json!(old + new),
        (Some(one), None) | (None, Some(one)) => json!(one),
        (None, None) => Value::Null,
    }
}

#[test]
fn aggregates() {
    let columns = [
        ("total", json!("BIGINT")),
        ("most", json!("BIGINT")),
        ("all", json!("STRING")),
        ("last", json!("STRING")),
        ("first", json!("STRING")),
        ("any", json!("BOOLEAN")),
        ("parts", json!({ "type": "ARRAY", "element": "INT" })),
    ];
    let mut options = json!({ "merge-engine": "aggregation" });
    for (column, function) in [
        ("total", "sum"),
        ("most", "max"),
        ("all", "listagg"),
        ("last", "last_non_null_value"),
        ("first", "first_non_null_value"),
        ("any", "bool_or"),
        ("parts", "collect"),
    ] {
        options[format!("fields.{column}.aggregate-function")] = json!(function);
        if column != "total" {
            options[format!("fields.{column}.ignore-retract")] = json!("true");
        }
    }
    ten_rounds(
        &schema(&columns, &options),
        |old, new| {
            let nothing = json!({
                "total": null, "most": null, "all": null, "last": null, "first": null, "any": null, "parts": null,
            });
            let retracts = new["_kind"] == "-D";
            let mut row = old.unwrap_or(&nothing).clone();
            row["k"] = new["k"].clone();
            if retracts {
                row["total"] = json!(row["total"].as_i64().unwrap_or(0) - new["total"].as_i64().unwrap_or(0));
                return Some(row);
            }
            row["total"] = sum(&row["total"], &new["total"]);
            row["most"] = json!(row["most"].as_i64().max(new["most"].as_i64()));
            row["all"] = match (row["all"].as_str(), new["all"].as_str()) {
                (Some(old), Some(new)) => json!(format!("{old},{new}")),
                (one, other) => json!(one.or(other)),
            };
            if !new["last"].is_null() {
                row["last"] = new["last"].clone();
            }
            if row["first"].is_null() {
                row["first"] = new["first"].clone();
            }
            row["any"] = match (row["any"].as_bool(), new["any"].as_bool()) {
                (Some(old), Some(new)) => json!(old || new),
                (one, other) => json!(one.or(other)),
            };
            row["parts"] = match (row["parts"].as_array(), new["parts"].as_array()) {
                (Some(old), Some(new)) => json!(old.iter().chain(new).collect::<Vec<_>>()),
                (one, other) => json!(one.or(other)),
            };
            Some(row)
        },
        |k, turn, old| {
            let number = |salt: i64| (dice(k, turn + salt, 5) > 0).then(|| dice(k, turn + salt, 90));
            let word = |salt: i64| (dice(k, turn + salt, 3) > 0).then(|| format!("{k}.{turn}"));
            let retracts = old.is_some_and(|row| row["total"].is_i64()) && dice(k, turn, 7) == 0;
            json!({
                "k": k, "total": if retracts { Some(1) } else { number(1) }, "most": number(2), "all": word(3),
                "last": word(4), "first": word(5), "any": (dice(k, turn, 3) > 0).then(|| dice(k, turn, 2) == 0),
                "parts": (dice(k, turn, 4) > 0).then_some([k, turn]), "_kind": if retracts { "-D" } else { "+I" },
            })
        },
    );
}

#[test]
fn parts_of_rows() {
    let columns = [("a", json!("STRING")), ("b", json!("BIGINT"))];
    let options = json!({ "merge-engine": "partial-update", "partial-update.remove-record-on-delete": "true" });
    ten_rounds(
        &schema(&columns, &options),
        |old, new| {
            if new["_kind"] == "-D" {
                return None;
            }
            let nothing = json!({ "a": null, "b": null });
            let mut row = old.unwrap_or(&nothing).clone();
            for (name, value) in new.as_object().unwrap().iter().filter(|(n, v)| *n != "_kind" && !v.is_null()) {
                row[name] = value.clone();
            }
            Some(row)
        },
        |k, turn, _| {
            let number = (dice(k, turn, 3) > 0).then(|| dice(k, turn, 1000));
            let kind = if dice(k, turn, 9) == 0 { "-D" } else { "+I" };
            json!({ "k": k, "a": text(k, turn), "b": number, "_kind": kind })
        },
    );
}

#[test]
fn parts_of_rows_in_groups() {
    let columns = [
        ("g1", json!("INT")),
        ("a", json!("STRING")),
        ("g2", json!("INT")),
        ("h2", json!("INT")),
        ("total", json!("BIGINT")),
        ("b", json!("STRING")),
        ("free", json!("STRING")),
    ];
    let options = json!({
        "merge-engine": "partial-update", "fields.g1.sequence-group": "a",
        "fields.g2,h2.sequence-group": "total,b", "fields.total.aggregate-function": "sum",
    });
    ten_rounds(
        &schema(&columns, &options),
        |old, new| {
            // A record that is alone stays as it is. With others, values without a sequence do not count.
            let Some(mut row) = old.cloned() else { return Some(new.clone()) };
            if row["g1"].is_null() {
                row["a"] = Value::Null;
            }
            if row["g2"].is_null() && row["h2"].is_null() {
                (row["total"], row["b"]) = (Value::Null, Value::Null);
            }
            if !new["free"].is_null() {
                row["free"] = new["free"].clone();
            }
            let order = |row: &Value, names: &[&str]| names.iter().map(|n| row[*n].as_i64()).collect::<Vec<_>>();
            for (sequence, protected) in [(&["g1"][..], &["a"][..]), (&["g2", "h2"], &["b"])] {
                let (was, is) = (order(&row, sequence), order(new, sequence));
                if is.iter().any(Option::is_some) && is >= was {
                    for name in sequence.iter().chain(protected) {
                        row[*name] = new[*name].clone();
                    }
                }
            }
            // A sum takes late records too.
            if !new["g2"].is_null() || !new["h2"].is_null() {
                row["total"] = sum(&row["total"], &new["total"]);
            }
            Some(row)
        },
        |k, turn, _| {
            let number = |salt: i64, sides: i64| (dice(k, turn + salt, 5) > 0).then(|| dice(k, turn + salt, sides));
            json!({
                "k": k, "g1": number(1, 9), "a": text(k, turn), "g2": number(2, 4), "h2": number(3, 4),
                "total": number(4, 90), "b": text(k, turn + 1), "free": text(k, turn + 2),
            })
        },
    );
}

/// Rows that are never merged: every turn's stay.
fn append(options: &Value) {
    let mut schema = schema(&[("v", json!("STRING"))], options);
    schema["primaryKeys"] = json!([]);
    let Some(mut ring) = Ring::new(&schema, []) else { return };
    let mut all = Vec::new();
    let buckets = schema["options"]["bucket"] != "-1";
    for round in 0..10 {
        for turn in [2 * round, 2 * round + 1] {
            let rows: Vec<Value> = (0..20).map(|k| json!({ "k": k, "v": text(k, turn) })).collect();
            all.extend(rows.iter().cloned());
            match turn % 2 {
                0 => ring.write(&rows),
                // Java's writers compact only buckets.
                _ if buckets && round % 3 == 1 => ring.java_compacts_too(&rows, true),
                _ => ring.java_appends(&rows),
            }
            if turn % 6 == 4 {
                ring.compact(round % 2 == 0);
            }
            ring.check(&format!("turn {turn}"), &all);
        }
    }
}

#[test]
fn appended_rows() {
    append(&json!({ "bucket": "-1" }));
}

#[test]
fn appended_rows_in_buckets() {
    append(&json!({ "bucket": "2", "bucket-key": "k", "compaction.min.file-num": "3" }));
}
