//! Other implementations as running programs: one process each, one JSON command and one JSON answer a line.
//!
//! Commands are those of tests/interop/java and tests/interop/python.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Map, Value, json};

use crate::service;

/// A running implementation. Dropping it ends the process.
#[derive(Debug)]
pub struct Peer {
    name: &'static str,
    child: Child,
    commands: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

/// A table as a peer finds it.
#[derive(Debug, Clone)]
pub struct Place {
    /// Warehouse path or URI.
    pub warehouse: String,
    /// Database without `.db`.
    pub database: String,
    /// Table.
    pub table: String,
    /// Options of the catalog, such as credentials.
    pub catalog: BTreeMap<String, String>,
}

impl Place {
    /// A table below a local folder.
    pub fn local(warehouse: &Path, database: &str, table: &str) -> Self {
        Self {
            warehouse: warehouse.display().to_string(),
            database: database.to_owned(),
            table: table.to_owned(),
            catalog: BTreeMap::new(),
        }
    }
}

/// A peer's answer: its result, or its error's text.
pub type Answer<T> = Result<T, String>;

impl Peer {
    /// The newest release of the Java implementation; none when it is not installed.
    pub fn java() -> Option<Self> {
        Some(Self::jvm("java", &service::variable("LINN_TEST_JAVA")?))
    }

    /// The oldest supported release of the Java implementation (0.9); none when it is not installed.
    pub fn java_old() -> Option<Self> {
        Some(Self::jvm("java-0.9", &service::variable("LINN_TEST_JAVA_OLD")?))
    }

    /// The Python implementation; none when it is not installed.
    pub fn python() -> Option<Self> {
        let mut command = Command::new(service::variable("LINN_TEST_PYTHON")?);
        command.arg(interop("python/interop.py"));
        Some(Self::start("python", command))
    }

    fn jvm(name: &'static str, class_path: &str) -> Self {
        let mut command = Command::new("java");
        command.args(["-Duser.timezone=UTC", "-Xmx1g", "-XX:TieredStopAtLevel=1", "-cp", class_path, "Interop"]);
        Self::start(name, command)
    }

    fn start(name: &'static str, mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .env("TZ", "UTC")
            .spawn()
            .unwrap_or_else(|e| panic!("cannot start {name}: {e}"));
        let commands = child.stdin.take();
        let answers = BufReader::new(child.stdout.take().expect("stdout is piped"));
        Self { name, child, commands, answers }
    }

    /// Which implementation this is, for messages.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// All rows with these dynamic options.
    pub fn read(&mut self, place: &Place, options: &[(&str, &str)]) -> Answer<Vec<Value>> {
        let options: Map<String, Value> = options.iter().map(|(k, v)| ((*k).to_owned(), json!(v))).collect();
        rows(self.send(place, "read", json!({ "options": options }))?)
    }

    /// The rows that are left when files, and rows by the indexes of files, are ruled out for
    /// `{"column", "is", "values"}`; no row is looked at (Java only).
    pub fn read_where(&mut self, place: &Place, options: &[(&str, &str)], filter: &Value) -> Answer<Vec<Value>> {
        let options: Map<String, Value> = options.iter().map(|(k, v)| ((*k).to_owned(), json!(v))).collect();
        rows(self.send(place, "read", json!({ "options": options, "filter": filter }))?)
    }

    /// All rows of a system table such as `snapshots` (Java only).
    pub fn system(&mut self, place: &Place, name: &str, options: &[(&str, &str)]) -> Answer<Vec<Value>> {
        let place = Place { table: format!("{}${name}", place.table), ..place.clone() };
        let options: Map<String, Value> = options.iter().map(|(k, v)| ((*k).to_owned(), json!(v))).collect();
        rows(self.send(&place, "system", json!({ "options": options }))?)
    }

    /// Changes the history: `["createTag", name, snapshot]`, `["deleteTag", name]`, `["createBranch", name, tag?]`,
    /// `["deleteBranch", name]`, `["fastForward", name]`, `["rollback", snapshot or tag]` (Java only).
    pub fn history(&mut self, place: &Place, actions: &Value) -> Answer<()> {
        self.send(place, "history", json!({ "actions": actions })).map(drop)
    }

    /// All changes from the first snapshot to the newest, with `_kind` (Java only).
    pub fn changelog(&mut self, place: &Place) -> Answer<Vec<Value>> {
        rows(self.send(place, "changelog", json!({}))?)
    }

    /// The changes from where the options or their consumer say to the newest, with `_kind`; then the progress is recorded
    /// (Java only).
    pub fn follow(&mut self, place: &Place, options: &[(&str, &str)]) -> Answer<Vec<Value>> {
        let options: Map<String, Value> = options.iter().map(|(k, v)| ((*k).to_owned(), json!(v))).collect();
        rows(self.send(place, "follow", json!({ "options": options }))?)
    }

    /// Commits rows; `_kind` in a row is its kind (Java only).
    pub fn write(&mut self, place: &Place, rows: &[Value]) -> Answer<()> {
        self.send(place, "write", json!({ "rows": rows })).map(drop)
    }

    /// Compacts every bucket (Java only).
    pub fn compact(&mut self, place: &Place, full: bool) -> Answer<()> {
        self.send(place, "compact", json!({ "full": full })).map(drop)
    }

    /// Creates a table from `{"fields", "partitionKeys", "primaryKeys", "options"}`, fields as in a schema file.
    pub fn create(&mut self, place: &Place, schema: &Value) -> Answer<()> {
        self.send(place, "create", json!({ "schema": schema })).map(drop)
    }

    /// Changes the schema: `["add", name, type]`, `["drop", name]`, `["rename", from, to]`, `["type", name, type]`, `["set", key, value]`.
    pub fn alter(&mut self, place: &Place, changes: &Value) -> Answer<()> {
        self.send(place, "alter", json!({ "changes": changes })).map(drop)
    }

    fn send(&mut self, place: &Place, command: &str, mut body: Value) -> Answer<Value> {
        body["command"] = json!(command);
        body["warehouse"] = json!(place.warehouse);
        body["database"] = json!(place.database);
        body["table"] = json!(place.table);
        body["catalog"] = json!(place.catalog);
        let commands = self.commands.as_mut().expect("open until dropped");
        writeln!(commands, "{body}").unwrap_or_else(|e| panic!("{} ended: {e}", self.name));
        let mut line = String::new();
        let read = self.answers.read_line(&mut line).unwrap_or_else(|e| panic!("{} ended: {e}", self.name));
        assert!(read > 0, "{} ended at: {body}", self.name);
        let mut answer: Value =
            serde_json::from_str(&line).unwrap_or_else(|e| panic!("{} answered {line}: {e}", self.name));
        match answer.get("error") {
            Some(error) => Err(error.as_str().unwrap_or_default().to_owned()),
            None => Ok(answer["ok"].take()),
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        drop(self.commands.take());
        // End of input ends the program; a hanging one is killed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn rows(value: Value) -> Answer<Vec<Value>> {
    match value {
        Value::Array(rows) => Ok(rows),
        other => Err(format!("rows are not a list: {other}")),
    }
}

fn interop(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/interop").join(file)
}
