//! Completion: what fits at the cursor, judged by the words before it.

use std::collections::BTreeSet;

use linn::format::options::OPTIONS;

use super::names::Names;
use super::words::{KEYWORDS, Piece, is_keyword, pieces};

/// Words that are no names without quotes.
const RESERVED: &[&str] = &[
    "ALL",
    "AND",
    "AS",
    "CASE",
    "CAST",
    "CROSS",
    "DISTINCT",
    "ELSE",
    "END",
    "EXCEPT",
    "FALSE",
    "FROM",
    "FULL",
    "GROUP",
    "HAVING",
    "IN",
    "INNER",
    "INTERSECT",
    "IS",
    "JOIN",
    "LEFT",
    "LIMIT",
    "NOT",
    "NULL",
    "ON",
    "OR",
    "ORDER",
    "OUTER",
    "RIGHT",
    "SELECT",
    "SET",
    "TABLE",
    "THEN",
    "TRUE",
    "UNION",
    "USING",
    "VALUES",
    "WHEN",
    "WHERE",
    "WITH",
];

/// Where the word at the end of a text begins, and what it could become.
pub(super) fn complete(names: &Names, before: &str, line: &str) -> (usize, Vec<String>) {
    let whole = format!("{before}{line}");
    if let Some(found) = option_key(&whole, line) {
        return found;
    }
    let start = line
        .char_indices()
        .rev()
        .take_while(|(_, c)| c.is_alphanumeric() || matches!(c, '_' | '$' | '.' | '"'))
        .last()
        .map_or(line.len(), |(at, _)| at);
    let word = line.get(start..).unwrap_or_default();
    let head = whole.get(..whole.len() - word.len()).unwrap_or_default();
    let mut found = candidates(names, head, word);
    found.dedup();
    (start, found)
}

/// Keys of options, inside of an open quote after OPTIONS, WITH or SET.
fn option_key(whole: &str, line: &str) -> Option<(usize, Vec<String>)> {
    let all = pieces(whole);
    let Some((Piece::Text { open: true }, text)) = all.last() else { return None };
    let words: Vec<String> = words_of(&all);
    let takes = words.iter().rev().find(|word| matches!(word.as_str(), "OPTIONS" | "WITH" | "SET" | "RESET" | "WHERE"));
    let key = text.trim_start_matches('\'');
    if takes.is_none_or(|word| word == "WHERE") {
        return Some((line.len(), Vec::new()));
    }
    let keys = OPTIONS.iter().map(|def| def.key).filter(|known| known.starts_with(key));
    let keys: BTreeSet<String> = keys.map(str::to_owned).collect();
    Some((line.len().saturating_sub(key.len()), keys.into_iter().collect()))
}

fn words_of(all: &[(Piece, &str)]) -> Vec<String> {
    all.iter().filter(|(piece, _)| *piece == Piece::Word).map(|(_, text)| text.to_ascii_uppercase()).collect()
}

fn candidates(names: &Names, head: &str, word: &str) -> Vec<String> {
    let all = pieces(head);
    let words = words_of(&all);
    let last = words.iter().rev().find(|word| is_keyword(word)).map(String::as_str).unwrap_or_default();
    if let Some((qualifier, rest)) = word.rsplit_once('.') {
        return qualified(names, head, last, qualifier, rest);
    }
    if word.contains('$') {
        return system(names, "", names.here(), word);
    }
    let starting = |list: Vec<String>| list.into_iter().filter(|name| starts(name, word)).collect::<Vec<_>>();
    let databases = || names.tables.keys().map(|name| written(name)).collect::<Vec<_>>();
    let tables = || names.here().iter().map(|name| written(name)).collect::<Vec<_>>();
    match last {
        "CALL" => starting(names.procedures.iter().map(|name| format!("sys.{name}")).collect()),
        "USE" | "DATABASE" => starting(databases()),
        "FROM" | "JOIN" | "INTO" | "UPDATE" | "TABLE" | "DESCRIBE" | "DESC" | "OVERWRITE" | "USING" | "TRUNCATE"
        | "SUMMARIZE" | "COPY"
            if follows(&all) =>
        {
            let found = starting([tables(), databases()].concat());
            if found.is_empty() { keywords(word) } else { found }
        }
        _ => {
            let columns = columns_near(names, head);
            let functions = names.functions.iter().filter(|_| !word.is_empty()).map(|name| format!("{name}("));
            starting([columns, tables(), keywords(word), functions.collect()].concat())
        }
    }
}

/// Whether the name of a table is still to come: nothing but a comma stands between the last keyword and the cursor.
fn follows(all: &[(Piece, &str)]) -> bool {
    let last = all.iter().rev().find(|(piece, _)| !matches!(piece, Piece::Blank | Piece::Comment { .. }));
    last.is_some_and(|(piece, text)| *text == "," || (*piece == Piece::Word && is_keyword(text)))
}

fn qualified(names: &Names, head: &str, last: &str, qualifier: &str, rest: &str) -> Vec<String> {
    let prefixed = |list: Vec<String>| -> Vec<String> {
        list.into_iter().filter(|name| starts(name, rest)).map(|name| format!("{qualifier}.{name}")).collect()
    };
    if qualifier == "sys" && last == "CALL" {
        return prefixed(names.procedures.clone());
    }
    if let Some(tables) = names.tables.get(qualifier) {
        if rest.contains('$') {
            return system(names, &format!("{qualifier}."), tables, rest);
        }
        return prefixed(tables.iter().map(|name| written(name)).collect());
    }
    let table = aliased(head, qualifier).unwrap_or_else(|| qualifier.to_owned());
    let columns = names.columns.get(&table).cloned().unwrap_or_default();
    prefixed(columns.iter().map(|name| written(name)).collect())
}

fn system(names: &Names, prefix: &str, tables: &[String], word: &str) -> Vec<String> {
    let all = tables.iter().flat_map(|table| names.system().map(move |name| format!("{table}${name}")));
    all.filter(|name| name.starts_with(word)).map(|name| format!("{prefix}{name}")).collect()
}

/// The table that a name stands for: `FROM t a`, `JOIN t AS a`. What comes after the cursor is not known.
fn aliased(head: &str, alias: &str) -> Option<String> {
    let all = pieces(head);
    let words: Vec<&str> = all.iter().filter(|(piece, _)| *piece == Piece::Word).map(|(_, text)| *text).collect();
    words.windows(2).enumerate().find_map(|(at, pair)| {
        let [table, name] = pair else { return None };
        let name = if name.eq_ignore_ascii_case("AS") { words.get(at + 2)? } else { name };
        (*name == alias && !is_keyword(table)).then(|| (*table).to_owned())
    })
}

/// Columns of the tables that the statement names so far; of all tables when it names none yet.
fn columns_near(names: &Names, head: &str) -> Vec<String> {
    let all = pieces(head);
    let named: Vec<&str> = all
        .iter()
        .map(|(_, text)| text.trim_matches(['"', '`']))
        .filter(|text| names.columns.contains_key(*text))
        .collect();
    let of = |table: &str| names.columns.get(table).into_iter().flatten();
    let found: BTreeSet<&String> = match named.is_empty() {
        true => names.columns.values().flatten().collect(),
        false => named.into_iter().flat_map(of).collect(),
    };
    found.into_iter().map(|name| written(name)).collect()
}

fn keywords(word: &str) -> Vec<String> {
    if word.is_empty() {
        return Vec::new();
    }
    let lower = word.chars().all(|c| !c.is_uppercase());
    let upper = word.to_uppercase();
    let found = KEYWORDS.iter().filter(|keyword| keyword.starts_with(&upper));
    found.map(|keyword| if lower { keyword.to_lowercase() } else { (*keyword).to_owned() }).collect()
}

fn starts(name: &str, word: &str) -> bool {
    let bare = word.trim_start_matches('"');
    name.starts_with(word) || name.trim_start_matches('"').starts_with(bare)
}

/// A name as it must be written.
fn written(name: &str) -> String {
    let plain = name.chars().all(|c| c.is_alphanumeric() || c == '_')
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && !RESERVED.iter().any(|word| word.eq_ignore_ascii_case(name));
    if plain { name.to_owned() } else { linn_sql::quoted(name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names {
        let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        Names {
            database: "default".into(),
            tables: [("default".into(), list(&["orders", "my table"])), ("lake".into(), list(&["events"]))].into(),
            columns: [("orders".into(), list(&["id", "item count"])), ("my table".into(), list(&["x"]))].into(),
            functions: list(&["substr", "sum"]),
            procedures: list(&["compact", "create_tag"]),
        }
    }

    #[track_caller]
    fn check(line: &str, expected: &[&str]) {
        let (start, found) = complete(&names(), "", line);
        assert!(start <= line.len());
        assert_eq!(found, expected, "{line}");
    }

    #[test]
    fn tables_come_after_from() {
        check("SELECT * FROM or", &["orders"]);
        check("SELECT * FROM ", &["orders", "\"my table\"", "default", "lake"]);
        check("SELECT * FROM lake.", &["lake.events"]);
        check("SELECT * FROM orders$file_k", &["orders$file_key_ranges"]);
        check("SELECT * FROM lake.events$snap", &["lake.events$snapshots"]);
        check("USE la", &["lake"]);
    }

    #[test]
    fn columns_functions_and_keywords_come_elsewhere() {
        check("SELECT su", &["summarize", "substr(", "sum("]);
        check("SELECT i FROM orders WHERE it", &["\"item count\""]);
        check("SELECT o.i", &[]);
        check("SELECT * FROM orders o WHERE o.i", &["o.id", "o.\"item count\""]);
        check("SELE", &["SELECT"]);
        check("sele", &["select"]);
        check("CALL sys.cr", &["sys.create_tag"]);
        check("CALL ", &["sys.compact", "sys.create_tag"]);
    }

    #[test]
    fn options_come_inside_of_quotes() {
        check("CREATE TABLE t (id INT) WITH ('bucket-k", &["bucket-key"]);
        check("SELECT * FROM orders WHERE a = 'bucket-k", &[]);
        let line = "ALTER TABLE t SET ('write-o";
        assert_eq!(complete(&names(), "", line), (line.len() - "write-o".len(), vec!["write-only".to_owned()]));
    }

    #[test]
    fn lines_before_count() {
        let (_, found) = complete(&names(), "SELECT *\nFROM orders\n", "WHERE i");
        assert_eq!(found.first().map(String::as_str), Some("id"));
    }
}
