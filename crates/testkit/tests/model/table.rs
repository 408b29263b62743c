//! What a scenario's tables are: columns with their values, options, and what must not be asked of them.

use std::sync::Arc;

use linn_core::seam::{Env, LocalSpawn, ManualClock, SeededIds, Storage};
use linn_core::storage::Memory;
use linn_core::{Schemas, Table};
use linn_format::schema::{NewTable, TableSchema};
use linn_format::types::{DataField, DataType};
use linn_testkit::model::Row;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::key::Key;

pub(crate) const PATH: &str = "db.db/t";

/// A column and the values that rows get by a random number; 0 is null where that is allowed.
#[derive(Clone)]
pub(crate) struct Column {
    pub(crate) name: &'static str,
    pub(crate) sql: &'static str,
    /// The value for a key and a random number.
    pub(crate) value: Arc<dyn Fn(u8, u8) -> Value + Send + Sync>,
}

/// A column whose values are taken from a list.
pub(crate) fn column<const N: usize>(name: &'static str, sql: &'static str, values: [Value; N]) -> Column {
    let pick = move |_, seed: u8| if seed == 0 { Value::Null } else { values[usize::from(seed - 1) % N].clone() };
    Column { name, sql, value: Arc::new(pick) }
}

/// INT or BIGINT values around zero.
pub(crate) fn ints(name: &'static str, sql: &'static str) -> Column {
    column(name, sql, [json!(-3), json!(-2), json!(-1), json!(0), json!(1), json!(2), json!(5)])
}

/// STRING values, some of which are parts of others.
pub(crate) fn texts(name: &'static str) -> Column {
    column(name, "STRING", [json!("a"), json!("aa"), json!("b"), json!("b,a"), json!(""), json!("é")])
}

/// A scenario.
#[derive(Clone)]
pub(crate) struct Scenario {
    /// Columns behind the key `k` and the partition `d INT`.
    pub(crate) columns: Vec<Column>,
    pub(crate) options: Vec<(&'static str, &'static str)>,
    /// Row kinds that occur.
    pub(crate) kinds: &'static [i8],
}

impl Scenario {
    pub(crate) fn new(columns: Vec<Column>, options: &[(&'static str, &'static str)]) -> Self {
        let options = options.to_vec();
        Self { columns, options, kinds: &[0, 2] }
    }

    pub(crate) fn kinds(self, kinds: &'static [i8]) -> Self {
        Self { kinds, ..self }
    }

    fn has(&self, key: &str, value: &str) -> bool {
        self.options.contains(&(key, value))
    }
}

/// What varies beside the scenario.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    format: &'static str,
    producer: &'static str,
    buckets: u8,
    partitioned: bool,
    vectors: bool,
    wide_vectors: bool,
    small_files: bool,
    trigger: u8,
    small_buffer: bool,
    lookup_files: bool,
    few_runs: bool,
    gentle_statistics: bool,
    /// Which type the key has.
    key: u8,
    /// Whether key and partition of some rows are null.
    null_keys: bool,
}

pub(crate) fn layouts() -> impl Strategy<Value = Layout> {
    let format = prop_oneof![3 => Just("parquet"), 1 => Just("avro"), 1 => Just("orc")];
    let producer = prop_oneof![
        3 => Just("none"), 1 => Just("input"), 2 => Just("lookup"), 1 => Just("full-compaction")
    ];
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    let key = (prop_oneof![2 => Just(0u8), 3 => any::<u8>()], prop::bool::weighted(0.2));
    let more = (prop::bool::weighted(0.2), prop::bool::weighted(0.3), 1u8..4, 2u8..6, key);
    (format, producer, flags, more).prop_map(|(format, producer, flags, more)| Layout {
        format,
        producer,
        partitioned: flags.0,
        vectors: flags.1,
        wide_vectors: flags.2,
        small_files: flags.3,
        lookup_files: flags.4,
        few_runs: flags.5,
        small_buffer: more.0,
        gentle_statistics: more.1,
        buckets: more.2,
        trigger: more.3,
        key: more.4.0,
        null_keys: more.4.1,
    })
}

/// A table of a scenario in one layout.
pub(crate) struct Made {
    pub(crate) schema: TableSchema,
    pub(crate) columns: Vec<Column>,
    /// Whether reads leave level 0 out.
    pub(crate) hides: bool,
    pub(crate) vectors: bool,
    pub(crate) key: Key,
    null_keys: bool,
}

impl Layout {
    pub(crate) fn of(&self, scenario: &Scenario) -> Made {
        let first = scenario.has("merge-engine", "first-row");
        let producer = match self.producer {
            "input" | "full-compaction" if first => "none",
            other => other,
        };
        let vectors = self.vectors && !first && producer != "full-compaction";
        let columns = scenario.columns.clone();
        let mut options: Vec<(String, String)> =
            scenario.options.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let mut set = |key: &str, value: &str| options.push((key.to_owned(), value.to_owned()));
        set("bucket", &self.buckets.to_string());
        set("file.format", self.format);
        set("changelog-producer", producer);
        if producer == "full-compaction" {
            set("full-compaction.delta-commits", "1000");
        }
        set("deletion-vectors.enabled", &vectors.to_string());
        set("deletion-vectors.bitmap64", &self.wide_vectors.to_string());
        if self.small_files {
            set("target-file-size", "1 kb");
        }
        if self.lookup_files {
            set("lookup.remote-file.enabled", "true");
        }
        set("num-sorted-run.compaction-trigger", &self.trigger.to_string());
        if self.few_runs {
            set("sort-spill-threshold", "2");
        }
        if self.small_buffer && producer != "input" {
            set("write-buffer-size", "1 kb");
            set("write-buffer-spillable", "true");
        }
        if self.gentle_statistics {
            set("metadata.stats-mode", "none");
        }
        if self.null_keys {
            set("primary-key.nullable", "true");
        }
        let key = Key::of(self.key, self.format);
        let keys = [("k", key.sql), ("d", "INT")];
        let all = keys.iter().copied().chain(columns.iter().map(|c| (c.name, c.sql)));
        let fields = (0..).zip(all).map(|(id, (name, sql))| DataField::new(id, name, DataType::parse(sql).unwrap()));
        let names: &[&str] = if self.partitioned { &["k", "d"] } else { &["k"] };
        let new = NewTable {
            columns: fields.collect(),
            primary_keys: names.iter().map(|n| (*n).to_owned()).collect(),
            partition_keys: names[1..].iter().map(|n| (*n).to_owned()).collect(),
            options: options.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect(),
            ..NewTable::default()
        };
        let schema = TableSchema::create(new, 0).unwrap();
        Made { schema, columns, hides: vectors || first, vectors, key, null_keys: self.null_keys }
    }
}

impl Made {
    /// A row with all columns; its partition follows from its key.
    pub(crate) fn row(&self, key: u8, seeds: &[u8]) -> Row {
        let mut row = Row::new();
        let null = |is_null: bool, value: Value| if self.null_keys && is_null { Value::Null } else { value };
        row.insert("k".to_owned(), null(key == 0, self.key.value(key)));
        row.insert("d".to_owned(), null(key.is_multiple_of(4), json!(key % 2)));
        for (at, column) in self.columns.iter().enumerate() {
            row.insert(column.name.to_owned(), (column.value)(key, seeds[at % seeds.len()] % 9));
        }
        row
    }
}

/// The seams, all of them deterministic.
pub(crate) fn env(storage: Arc<dyn Storage>, seed: u64, folder: &tempfile::TempDir) -> Env {
    Env::new(
        storage,
        Arc::new(ManualClock::new(1_700_000_000_000)),
        Arc::new(SeededIds::new(seed)),
        Arc::new(LocalSpawn),
        folder.path().join("spill"),
    )
}

pub(crate) fn memory() -> Arc<Memory> {
    Arc::new(Memory::new(Arc::new(ManualClock::new(1_700_000_000_000))))
}

/// The table, made in the store if it is not there.
pub(crate) async fn open(schema: &TableSchema, env: Env) -> Table {
    let schemas = Schemas::at(Arc::clone(&env.storage), PATH);
    if schemas.latest().await.unwrap().is_none() {
        schemas.create(schema).await.unwrap();
    }
    Table::new("db.t", PATH, schema.clone(), env)
}
