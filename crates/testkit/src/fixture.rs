//! Tables written by the Java implementation and what it reads from them (tests/fixtures/README.md).
//!
//! The archives are unpacked once per content into the temporary folder; what is there is read only: copy a table before writing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use linn_format::schema::TableSchema;
use serde_json::Value;

use crate::compare::Rules;
use crate::peer::Place;

/// Which version of the Java implementation wrote the tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writer {
    /// Release 0.9.0.
    Java09,
    /// The 2.1 development line.
    Java21,
}

impl Writer {
    fn name(self) -> &'static str {
        match self {
            Self::Java09 => "java-0.9",
            Self::Java21 => "java-2.1",
        }
    }
}

/// One unpacked archive.
#[derive(Debug, Clone)]
pub struct Fixtures {
    root: PathBuf,
}

/// The name of the fixtures' database.
pub const DATABASE: &str = "fx";

/// A read that Java did: the dynamic options, and the file with the rows it got.
#[derive(Debug, Clone)]
pub struct Reading {
    /// Table.
    pub table: String,
    /// File name without `.jsonl`, such as `snapshot-3`.
    pub name: String,
    /// The dynamic option that makes this read, if any.
    pub option: Option<(&'static str, String)>,
}

impl Fixtures {
    /// Unpacks the archive unless that is done.
    ///
    /// # Panics
    /// When it cannot be unpacked (`tar` and `xz` are needed).
    pub fn open(writer: Writer) -> Self {
        // One process may ask from many threads; other processes are kept apart by the rename.
        static ONCE: Mutex<()> = Mutex::new(());
        let _guard = ONCE.lock();
        let name = writer.name();
        let archive = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../tests/fixtures/{name}.tar.xz"));
        let bytes = fs::read(&archive).unwrap_or_else(|e| panic!("cannot read {}: {e}", archive.display()));
        let folder = std::env::temp_dir().join(format!("linn-fixtures-{name}-{:016x}", fnv(&bytes)));
        if !folder.exists() {
            unpack(&archive, &folder);
        }
        Self { root: folder.join(name) }
    }

    /// The folder with `fx.db`.
    pub fn warehouse(&self) -> PathBuf {
        self.root.join("warehouse")
    }

    /// A table's folder.
    pub fn table(&self, table: &str) -> PathBuf {
        self.warehouse().join(format!("{DATABASE}.db")).join(table)
    }

    /// A table as peers find it.
    pub fn place(&self, table: &str) -> Place {
        Place::local(&self.warehouse(), DATABASE, table)
    }

    /// All tables by name.
    pub fn tables(&self) -> Vec<String> {
        names(&self.root.join("expected"))
    }

    /// The batch reads of a table: newest, each snapshot, each tag.
    pub fn readings(&self, table: &str) -> Vec<Reading> {
        let reading = |name: &str| {
            let option = if name == "expected" {
                None
            } else if let Some(id) = name.strip_prefix("snapshot-") {
                Some(("scan.snapshot-id", id.to_owned()))
            } else {
                Some(("scan.tag-name", name.strip_prefix("tag-")?.to_owned()))
            };
            Some(Reading { table: table.to_owned(), name: name.to_owned(), option })
        };
        let files = names(&self.root.join("expected").join(table));
        files.iter().filter_map(|f| reading(f.strip_suffix(".jsonl")?)).collect()
    }

    /// The batch reads of a table's branches, at the newest.
    pub fn branches(&self, table: &str) -> Vec<Reading> {
        let reading = |file: &String| {
            let name = file.strip_suffix(".jsonl")?;
            let option = Some(("branch", name.strip_prefix("branch-")?.to_owned()));
            Some(Reading { table: table.to_owned(), name: name.to_owned(), option })
        };
        names(&self.root.join("expected").join(table)).iter().filter_map(reading).collect()
    }

    /// The rows of an expectation file (name without `.jsonl`).
    pub fn expected(&self, table: &str, name: &str) -> Vec<Value> {
        let file = self.root.join("expected").join(table).join(format!("{name}.jsonl"));
        let text = fs::read_to_string(&file).unwrap_or_else(|e| panic!("cannot read {}: {e}", file.display()));
        text.lines()
            .map(|l| serde_json::from_str(l).unwrap_or_else(|e| panic!("{}: {e}: {l}", file.display())))
            .collect()
    }

    /// The newest schema of a table.
    pub fn schema(&self, table: &str) -> TableSchema {
        let folder = self.table(table).join("schema");
        let id = |name: &String| name.strip_prefix("schema-").and_then(|n| n.parse::<u64>().ok());
        let newest = names(&folder).iter().filter_map(id).max().unwrap_or_else(|| panic!("{table} has no schema"));
        self.schema_at(table, newest)
    }

    fn schema_at(&self, table: &str, id: u64) -> TableSchema {
        let file = self.table(table).join(format!("schema/schema-{id}"));
        let bytes = fs::read(&file).unwrap_or_else(|e| panic!("cannot read {}: {e}", file.display()));
        TableSchema::from_json(&bytes).unwrap_or_else(|e| panic!("{}: {e}", file.display()))
    }

    /// How the rows of a reading are compared: by the schema of its snapshot where that is still there.
    pub fn rules(&self, reading: &Reading) -> Rules {
        let snapshot = match &reading.option {
            Some(("scan.snapshot-id", id)) => format!("snapshot/snapshot-{id}"),
            Some(("scan.tag-name", tag)) => format!("tag/tag-{tag}"),
            _ => return Rules::of(&self.schema(&reading.table)),
        };
        let bytes = fs::read(self.table(&reading.table).join(snapshot)).unwrap_or_default();
        let json: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        match json.get("schemaId").and_then(Value::as_u64) {
            Some(id) => Rules::of(&self.schema_at(&reading.table, id)),
            None => Rules::of(&self.schema(&reading.table)),
        }
    }

    /// Copies a table into another warehouse, for tests that write to it.
    pub fn copy(&self, table: &str, warehouse: &Path) -> Place {
        let target = warehouse.join(format!("{DATABASE}.db"));
        fs::create_dir_all(&target).unwrap_or_else(|e| panic!("cannot create {}: {e}", target.display()));
        run(Command::new("cp").arg("-r").arg(self.table(table)).arg(&target));
        Place::local(warehouse, DATABASE, table)
    }
}

fn unpack(archive: &Path, folder: &Path) {
    let fresh = folder.with_extension(format!("new-{}", std::process::id()));
    fs::create_dir_all(&fresh).unwrap_or_else(|e| panic!("cannot create {}: {e}", fresh.display()));
    run(Command::new("tar").arg("-xJf").arg(archive).arg("-C").arg(&fresh));
    // Another process may have been faster: its result is the same.
    if fs::rename(&fresh, folder).is_err() {
        let _ = fs::remove_dir_all(&fresh);
    }
    assert!(folder.is_dir(), "cannot unpack {}", archive.display());
}

fn run(command: &mut Command) {
    let status = command.status().unwrap_or_else(|e| panic!("cannot run {command:?}: {e}"));
    assert!(status.success(), "{command:?} failed: {status}");
}

/// Names of a folder's entries, sorted; none for a folder that is not there.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
