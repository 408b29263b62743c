//! Records of sequence groups, flushed and compacted in any way: the answer is that of all records, one after the other.

use std::sync::Arc;

use linn_format::Result;
use proptest::prelude::*;
use proptest::sample::Index;

use super::{Row, Value, flush_runs, merge_part, merge_rows, merge_whole, table};
use crate::merge::{MergeSpec, Retractions};

/// Two groups: of the sequence `g`, and of `h, i`; and a column outside of any.
const COLUMNS: [(&str, &str); 9] = [
    ("k", "INT NOT NULL"),
    ("g", "INT"),
    ("a", "INT"),
    ("b", "STRING"),
    ("h", "INT"),
    ("i", "BIGINT"),
    ("c", "INT"),
    ("d", "STRING"),
    ("p", "INT"),
];

type Options = Vec<(String, String)>;

/// A table: options behind those of the groups, and the row kinds that occur.
struct Case {
    options: Options,
    kinds: &'static [i8],
}

const ADDS: &[i8] = &[0, 2];
const UPDATES: &[i8] = &[0, 0, 1, 2];
const ALL: &[i8] = &[0, 0, 0, 1, 2, 3];

/// Functions that take every type, with whether they refuse retractions.
const FUNCTIONS: [(&str, bool); 8] = [
    ("", false),
    ("last_value", false),
    ("last_non_null_value", false),
    ("sum", false),
    ("product", true),
    ("max", true),
    ("first_value", true),
    ("first_non_null_value", true),
];

fn options(a: &str, b: &str, c: &str, d: &str, ignoring: bool) -> Options {
    let mut options: Options =
        [("merge-engine", "partial-update"), ("fields.g.sequence-group", "a,b"), ("fields.h,i.sequence-group", "c,d")]
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .to_vec();
    for (column, function) in [("a", a), ("b", b), ("c", c), ("d", d)].into_iter().filter(|(_, f)| !f.is_empty()) {
        options.push((format!("fields.{column}.aggregate-function"), function.to_owned()));
        if ignoring {
            options.push((format!("fields.{column}.ignore-retract"), "true".to_owned()));
        }
    }
    options
}

fn cases() -> Vec<Case> {
    let texts = ["", "listagg", "last_value", "first_value", "last_non_null_value", "max"];
    let mut cases = Vec::new();
    for (at, &(function, refuses)) in FUNCTIONS.iter().enumerate() {
        for (text, beside) in texts.iter().zip(FUNCTIONS.iter().cycle().skip(at + 1)) {
            let other = texts[(at + 1) % texts.len()];
            cases.push(Case { options: options(function, text, beside.0, other, false), kinds: ADDS });
            // A row that stands by what was ignored does not say that no first value was there.
            if ![function, text, beside.0, other].contains(&"first_value") {
                cases.push(Case { options: options(function, text, beside.0, other, true), kinds: ALL });
            }
            let takes = |text: &str| !matches!(text, "listagg" | "first_value" | "max");
            if !refuses && !beside.1 && takes(text) && takes(other) {
                cases.push(Case { options: options(function, text, beside.0, other, false), kinds: ALL });
            }
        }
    }
    cases.extend(removing());
    cases
}

/// Tables where one group removes the row, or both do.
fn removing() -> Vec<Case> {
    let mut cases = Vec::new();
    let functions = [["", "", "", ""], ["", "", "sum", ""], ["sum", "last_value", "last_non_null_value", ""]];
    for [a, b, c, d] in functions {
        for groups in ["g", "h", "g,h"] {
            let mut options = options(a, b, c, d, false);
            options.push(("partial-update.remove-record-on-sequence-group".to_owned(), groups.to_owned()));
            cases.push(Case { options: options.clone(), kinds: ALL });
            cases.push(Case { options, kinds: UPDATES });
        }
    }
    cases
}

/// Raw material of a record: which key, its values, and a number that chooses its kind.
type Raw = (bool, Vec<u8>, u8);

fn raw() -> impl Strategy<Value = Vec<Raw>> {
    prop::collection::vec((any::<bool>(), prop::collection::vec(0u8..5, 8), any::<u8>()), 1..9)
}

fn records(case: &Case, raw: &[Raw]) -> Vec<Row> {
    let record = |(at, (key, seeds, kind)): (usize, &Raw)| {
        let mut values = vec![Some(Value::Int(i64::from(*key)))];
        for ((_, sql), seed) in COLUMNS[1..].iter().zip(seeds) {
            values.push(match (*seed, *sql) {
                (0, _) => None,
                (seed, "STRING") => Some(Value::Text(["", "x", "yy", "z"][usize::from(seed) - 1].to_owned())),
                (seed, _) => Some(Value::Int(i64::from(seed))),
            });
        }
        Row { values, sequence: at as i64, kind: case.kinds[usize::from(*kind) % case.kinds.len()] }
    };
    raw.iter().enumerate().map(record).collect()
}

/// What is read: whether a row is `+I` or `+U` does not matter.
fn read(spec: &Arc<MergeSpec>, newest_first: &[Vec<Row>]) -> Result<Vec<Vec<Option<Value>>>> {
    let rows = merge_rows(spec, newest_first, false, 4)?;
    Ok(rows.into_iter().map(|row| row.values).collect())
}

/// As many as `PROPTEST_CASES` says, or some for each table.
fn config() -> ProptestConfig {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok());
    ProptestConfig { cases: asked.unwrap_or(1500), failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn what_is_merged_when_changes_no_answer(
        case in any::<Index>(),
        raw in raw(),
        cuts in prop::collection::vec(0usize..9, 0..5),
        merges in prop::collection::vec((any::<Index>(), 2usize..4), 0..4),
    ) {
        let cases = cases();
        let case = case.get(&cases);
        let records = records(case, &raw);
        let options: Vec<(&str, &str)> = case.options.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        let schema = table(&COLUMNS, &options);
        let spec = Arc::new(MergeSpec::of(&schema, &schema.fields).unwrap());
        let alone: Vec<Vec<Row>> = records.iter().rev().map(|record| vec![record.clone()]).collect();
        let expected = read(&spec, &alone).unwrap();
        let mut bounds: Vec<usize> = cuts.iter().map(|cut| (*cut).min(records.len())).collect();
        bounds.extend([0, records.len()]);
        bounds.sort_unstable();
        let flush = |w: &[usize]| flush_runs(&spec, &records[w[0]..w[1]], 4).unwrap();
        let mut files: Vec<Vec<Row>> = bounds.windows(2).flat_map(flush).collect();
        let flushed = files.clone();
        for (at, count) in &merges {
            let at = at.index(files.len().max(1));
            let end = (at + count).min(files.len());
            let newest_first: Vec<Vec<Row>> = files[at..end].iter().rev().cloned().collect();
            let merged = match at {
                0 => merge_whole(&spec, &newest_first, Retractions::All, 4),
                _ => merge_part(&spec, &newest_first, 4),
            };
            files.splice(at..end, merged.unwrap());
        }
        let what = format!("{:?}\nrecords {records:?}\nflushed {flushed:?}\nfiles {files:?}", case.options);
        files.reverse();
        prop_assert_eq!(read(&spec, &files).unwrap(), expected, "{}", what);
    }
}
