//! Kinds of tables: what a seed draws, and what a read of such a table must return, folded row by row.

use std::collections::BTreeMap;

use linn_format::options::Options;
use linn_format::schema::{NewTable, TableSchema};
use linn_format::types::{DataField, DataType};
use rand::Rng;

use super::row::{Row, Values};

/// How records of one key become a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Engine {
    /// No key: every row stays.
    Append,
    /// The last one.
    Last,
    /// The one of the highest `s`, which is unique.
    BySequence,
    /// The last value of each column that is not null.
    Partial,
    /// `a` summed, of `b` the greatest, of the others the last that is not null.
    Sum,
    /// The first one.
    First,
}

/// Where changes of rows are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Producer {
    /// Nowhere.
    None,
    /// What was written.
    Input,
    /// Compactions look older rows up.
    Lookup,
    /// Full compactions compare.
    Full,
}

/// A kind of table.
#[derive(Debug, Clone)]
pub struct Shape {
    /// How rows merge.
    pub engine: Engine,
    /// Where changes are told.
    pub producer: Producer,
    /// Deletion vectors.
    pub vectors: bool,
    /// Buckets of a partition; −1 for append tables without.
    pub buckets: i32,
    /// Whether several writers write the same partitions.
    pub shared: bool,
    /// Whether somebody follows its changes.
    pub follows: bool,
    /// Further options.
    pub options: Vec<(&'static str, String)>,
}

impl Shape {
    /// A plain table of an engine.
    pub fn of(engine: Engine) -> Self {
        let buckets = if engine == Engine::Append { -1 } else { 1 };
        Self {
            engine,
            producer: Producer::None,
            vectors: false,
            buckets,
            shared: false,
            follows: false,
            options: Vec::new(),
        }
    }

    /// With deletion vectors.
    #[must_use]
    pub fn with_vectors(self) -> Self {
        Self { vectors: true, ..self }
    }

    /// With a changelog.
    #[must_use]
    pub fn with_producer(self, producer: Producer) -> Self {
        Self { producer, ..self }
    }

    /// With an option.
    #[must_use]
    pub fn with(mut self, key: &'static str, value: &str) -> Self {
        self.options.push((key, value.to_owned()));
        self
    }

    /// Some kind of table: each seed has its own.
    pub fn draw(random: &mut impl Rng) -> Self {
        let engines = [
            Engine::Append,
            Engine::Last,
            Engine::Last,
            Engine::BySequence,
            Engine::Partial,
            Engine::Sum,
            Engine::First,
        ];
        let mut shape = Self::of(engines[random.random_range(0..engines.len())]);
        let producers: &[Producer] = match shape.engine {
            Engine::Append => &[Producer::None],
            Engine::Last => &[Producer::None, Producer::Input, Producer::Lookup, Producer::Full],
            Engine::First => &[Producer::None, Producer::Lookup],
            _ => &[Producer::None, Producer::Lookup, Producer::Full],
        };
        shape.producer = producers[random.random_range(0..producers.len())];
        let may_have_vectors = !matches!(shape.engine, Engine::Append | Engine::First)
            && matches!(shape.producer, Producer::None | Producer::Lookup);
        shape.vectors = may_have_vectors && random.random_bool(0.4);
        if !shape.skips_level_zero() && random.random_bool(0.4) {
            shape.buckets = 2;
        }
        let quiet = shape.producer == Producer::None && !shape.vectors;
        shape.shared = matches!(shape.engine, Engine::Append | Engine::BySequence) && quiet && random.random_bool(0.5);
        let mut pick = |key: &'static str, values: &[&str]| {
            let at = random.random_range(0..=values.len());
            if let Some(value) = values.get(at) {
                shape.options.push((key, (*value).to_owned()));
            }
        };
        pick("file.format", &["parquet", "orc", "avro"]);
        pick("num-sorted-run.compaction-trigger", &["2", "3"]);
        pick("manifest.merge-min-count", &["2", "4"]);
        pick("manifest.full-compaction-threshold-size", &["1 kb"]);
        pick("manifest.target-file-size", &["2 kb"]);
        pick("target-file-size", &["4 kb"]);
        pick("write-only", &["true"]);
        pick("write-buffer-size", &["16 kb"]);
        pick("deletion-vectors.bitmap64", &["true"]);
        shape
    }

    /// Whether batch reads leave level 0 out.
    pub fn skips_level_zero(&self) -> bool {
        (self.vectors && self.engine != Engine::Append) || self.engine == Engine::First
    }

    /// Whether rows wait for a bucket.
    pub fn is_postponed(&self) -> bool {
        self.buckets == -2
    }

    /// Whether rows can be taken back.
    pub fn takes_deletes(&self) -> bool {
        self.engine == Engine::Last
    }

    /// Whether partitions may be replaced; a replacement is not told as changes.
    pub fn may_overwrite(&self) -> bool {
        self.producer == Producer::None && !self.follows
    }

    /// Whether who is told of all changes holds what the table holds.
    pub fn may_be_followed(&self) -> bool {
        match self.producer {
            // Rows as they are written: in their order, and none taken back by its place.
            Producer::None => matches!(self.engine, Engine::Append | Engine::Last) && !self.vectors && !self.shared,
            _ => true,
        }
    }

    /// All options of the table.
    pub fn all_options(&self) -> Options {
        let mut options: Vec<(&str, &str)> = match self.engine {
            Engine::Append | Engine::Last => vec![],
            Engine::BySequence => vec![("sequence.field", "s")],
            Engine::Partial => vec![("merge-engine", "partial-update")],
            Engine::Sum => vec![
                ("merge-engine", "aggregation"),
                ("fields.a.aggregate-function", "sum"),
                ("fields.b.aggregate-function", "max"),
            ],
            Engine::First => vec![("merge-engine", "first-row")],
        };
        match self.producer {
            Producer::None => {}
            Producer::Input => options.push(("changelog-producer", "input")),
            Producer::Lookup => options.push(("changelog-producer", "lookup")),
            Producer::Full => options.push(("changelog-producer", "full-compaction")),
        }
        if self.vectors {
            options.push(("deletion-vectors.enabled", "true"));
        }
        if self.engine == Engine::Append && self.buckets > 0 {
            options.push(("bucket-key", "k"));
        }
        let buckets = self.buckets.to_string();
        options.push(("bucket", &buckets));
        options.extend(self.options.iter().map(|(key, value)| (*key, value.as_str())));
        options.into_iter().collect()
    }

    /// The table's first schema.
    ///
    /// # Errors
    /// `Invalid` for options that do not go together.
    pub fn schema(&self, now_millis: i64) -> linn_format::Result<TableSchema> {
        let types = ["INT NOT NULL", "INT NOT NULL", "BIGINT", "BIGINT", "BIGINT", "STRING"];
        let columns =
            super::row::COLUMNS.iter().zip(types).enumerate().map(|(i, (name, sql))| {
                Ok(DataField::new(i32::try_from(i).unwrap_or(0), *name, DataType::parse(sql)?))
            });
        let keys: &[&str] = if self.engine == Engine::Append { &[] } else { &["p", "k"] };
        let new = NewTable {
            columns: columns.collect::<linn_format::Result<_>>()?,
            partition_keys: vec!["p".to_owned()],
            primary_keys: keys.iter().map(|key| (*key).to_owned()).collect(),
            options: self.all_options(),
            ..NewTable::default()
        };
        TableSchema::create(new, now_millis)
    }

    /// The rows that a read returns, in order, after these were written, in their order.
    pub fn fold<'a>(&self, written: impl IntoIterator<Item = &'a Row>) -> Vec<Row> {
        if self.engine == Engine::Append {
            let mut rows: Vec<Row> = written.into_iter().cloned().collect();
            rows.sort();
            return rows;
        }
        let mut state: BTreeMap<(i32, i32), Values> = BTreeMap::new();
        for Row { p, k, values, kind } in written {
            let key = (*p, *k);
            if *kind == 3 {
                state.remove(&key);
                continue;
            }
            match state.get_mut(&key) {
                None => {
                    state.insert(key, values.clone());
                }
                Some(before) => self.engine.merge(before, values),
            }
        }
        state.into_iter().map(|((p, k), values)| Row { p, k, values, kind: 0 }).collect()
    }
}

impl Engine {
    fn merge(self, before: &mut Values, next: &Values) {
        match self {
            Self::Append | Self::First => {}
            Self::Last => *before = next.clone(),
            Self::BySequence => {
                if next.s >= before.s {
                    *before = next.clone();
                }
            }
            Self::Partial | Self::Sum => {
                let sum = |a: Option<i64>, b: Option<i64>| match (a, b) {
                    (Some(a), Some(b)) => Some(a + b),
                    (a, b) => a.or(b),
                };
                *before = Values {
                    s: next.s.or(before.s),
                    a: if self == Self::Sum { sum(before.a, next.a) } else { next.a.or(before.a) },
                    b: if self == Self::Sum { before.b.max(next.b) } else { next.b.or(before.b) },
                    w: next.w.clone().or(before.w.take()),
                };
            }
        }
    }
}
