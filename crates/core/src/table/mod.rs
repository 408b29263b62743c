//! A table: its schema, its place, and the builders for everything one does with it.

mod commits;
mod counts;
mod hook;
mod manifests;
mod path;
mod reads;
mod schemas;

use std::sync::Arc;

use linn_format::options::table::general::{BRANCH, DATA_EVOLUTION_ENABLED};
use linn_format::options::{Options, check_value, option};
use linn_format::schema::{Bucketing, TableSchema};
use linn_format::types::{DataField, has_nanos, spelled, widened};
use linn_format::{Error, Result};

pub use commits::Commits;
pub use counts::{Count, ScanCounts};
pub use hook::{AfterCommit, CommitHooks, NoHooks};
pub use manifests::ManifestCache;
pub use reads::Reads;
pub(crate) use reads::{Noted, NotedScan};
pub(crate) use schemas::SchemaCache;

use crate::seam::{Env, Storage};

/// A table at one schema with options as seen by this caller (dynamic options applied). Cheap to clone.
#[derive(Debug, Clone)]
pub struct Table {
    inner: Arc<Inner>,
}

#[derive(Debug, Clone)]
struct Inner {
    name: String,
    path: String,
    branch: Option<String>,
    schema: TableSchema,
    env: Env,
    hooks: Arc<dyn CommitHooks>,
    caches: Caches,
    view: View,
}

/// Which files of a table its reads see.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum View {
    /// All that hold rows.
    #[default]
    Whole,
    /// Only those of the highest level, which no read has to merge.
    HighestLevel,
}

/// What is kept of a table's metadata and of its use, shared by its clones. Manifests of all branches lie together, schemas do not.
#[derive(Debug, Clone, Default)]
struct Caches {
    schemas: Arc<SchemaCache>,
    manifests: ManifestCache,
    commits: Commits,
    /// What its scans count, if somebody asks.
    counts: Option<Arc<ScanCounts>>,
    /// Where reads are noted, and found by commits.
    reads: Option<Reads>,
}

impl Table {
    /// A table called `name` (`db.table`, for messages) at `path`, relative to the store's root, whose commits `hooks` follow. The
    /// option `branch` of the schema chooses the branch.
    pub(crate) fn hooked(name: String, path: &str, schema: TableSchema, env: Env, hooks: Arc<dyn CommitHooks>) -> Self {
        let branch = branch_of(&schema);
        let path = path.trim_end_matches('/').to_owned();
        let (caches, view) = (Caches::default(), View::Whole);
        Self { inner: Arc::new(Inner { name, path, branch, schema, env, hooks, caches, view }) }
    }

    /// The same table with some of it changed.
    fn changed(&self, change: impl FnOnce(&mut Inner)) -> Self {
        let mut inner = (*self.inner).clone();
        change(&mut inner);
        inner.branch = branch_of(&inner.schema);
        Self { inner: Arc::new(inner) }
    }

    /// The same table, whose commits these hooks follow instead of the usual upkeep.
    #[must_use]
    pub fn with_hooks(&self, hooks: Arc<dyn CommitHooks>) -> Self {
        self.changed(|inner| inner.hooks = hooks)
    }

    /// What follows the commits of a new committer.
    pub(crate) fn after_commit(&self) -> Arc<dyn AfterCommit> {
        self.inner.hooks.begin()
    }

    /// The same table with options that hold for this caller only, such as hints of one query; they override those of the
    /// schema.
    ///
    /// # Errors
    /// `Invalid` for a change of an option that cannot change once there is data, and for a value that an option cannot have.
    pub fn with_options(&self, dynamic: &Options) -> Result<Self> {
        for (key, value) in dynamic.iter() {
            let Some(def) = option(key) else { continue };
            check_value(def, value).map_err(|e| e.with("table", self.name()))?;
            if def.immutable && !self.options().merged(dynamic).means_the_same(self.options(), key) {
                return Err(Error::invalid(format!(
                    "option {key} belongs to the table and cannot be set for a single read or write"
                ))
                .with("table", self.name()));
            }
        }
        let mut schema = self.inner.schema.clone();
        schema.options = schema.options.merged(dynamic);
        let (from, to) = (self.options().bucket()?, schema.options.bucket()?);
        if from != to && (from == Bucketing::NONE || to == Bucketing::NONE) {
            return Err(Error::invalid(format!(
                "option bucket cannot be {to} for a single write where the table has {from}"
            ))
            .with("table", self.name()));
        }
        Ok(self.changed(|inner| {
            inner.schema = schema;
            if dynamic.contains("branch") {
                inner.caches.schemas = Arc::default();
            }
        }))
    }

    /// The same table at another version of its schema; options given to [`with_options`](Self::with_options) are gone.
    #[must_use]
    pub fn with_schema(&self, schema: TableSchema) -> Self {
        self.changed(|inner| inner.schema = schema)
    }

    /// The table as its read-optimised view `t$ro` shows it: of a table with a primary key only the rows that a full
    /// compaction has brought to the highest level, which are read without merging and with every filter pushed down.
    #[must_use]
    pub fn read_optimized(&self) -> Self {
        self.changed(|inner| inner.view = View::HighestLevel)
    }

    /// Which files reads see.
    pub(crate) fn view(&self) -> View {
        self.inner.view
    }

    /// `db.table`.
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// Path relative to the store's root, without a trailing slash.
    pub fn path(&self) -> &str {
        &self.inner.path
    }

    /// The branch, unless it is the main one.
    pub fn branch(&self) -> Option<&str> {
        self.inner.branch.as_deref()
    }

    /// The schema, with the options as this caller sees them.
    pub fn schema(&self) -> &TableSchema {
        &self.inner.schema
    }

    /// The options as this caller sees them.
    pub fn options(&self) -> &Options {
        &self.inner.schema.options
    }

    /// The columns as this caller sees them: those of the schema, timestamps of more than six digits as text where
    /// `linn.read.wide-timestamps` asks for it.
    ///
    /// # Errors
    /// `Invalid` for another value of the option.
    pub fn visible_fields(&self) -> Result<Vec<DataField>> {
        match self.options().wide_timestamps_as_text()? {
            true => Ok(spelled(&self.schema().fields)),
            false => Ok(self.schema().fields.clone()),
        }
    }

    /// The table with wide timestamps, which lose nothing: for writing and compaction (decision 0003).
    pub(crate) fn widened(&self) -> Self {
        if !has_nanos(&self.schema().fields) {
            return self.clone();
        }
        let mut schema = self.inner.schema.clone();
        schema.fields = widened(&schema.fields);
        self.with_schema(schema)
    }

    /// Whether files of the table may hold different columns of the same rows (spec: format.md C.14).
    ///
    /// # Errors
    /// `Invalid` when `data-evolution.enabled` is no switch.
    pub fn data_evolves(&self) -> Result<bool> {
        self.options().is_on(&DATA_EVOLUTION_ENABLED)
    }

    /// The table over another store, which has the same files.
    #[must_use]
    pub(crate) fn with_storage(&self, storage: Arc<dyn Storage>) -> Self {
        self.changed(|inner| inner.env.storage = storage)
    }

    /// The table, whose scans count what they do.
    #[must_use]
    pub(crate) fn with_counts(&self, counts: Arc<ScanCounts>) -> Self {
        self.changed(|inner| inner.caches.counts = Some(counts))
    }

    /// What its scans count, if somebody asks.
    pub(crate) fn counts(&self) -> Option<&Arc<ScanCounts>> {
        self.inner.caches.counts.as_ref()
    }

    /// The seams.
    pub fn env(&self) -> &Env {
        &self.inner.env
    }

    /// The store.
    pub fn storage(&self) -> &Arc<dyn Storage> {
        &self.inner.env.storage
    }

    /// Where batch reads are noted.
    pub(crate) fn reads(&self) -> Option<&Reads> {
        self.inner.caches.reads.as_ref()
    }

    /// The same table, whose batch reads are noted there.
    pub(crate) fn with_reads(&self, reads: Option<Reads>) -> Self {
        self.changed(|inner| inner.caches.reads = reads)
    }

    /// The same table, which keeps its manifests in this cache: the tables that a catalog opens share one.
    #[must_use]
    pub fn with_manifest_cache(&self, manifests: ManifestCache) -> Self {
        self.changed(|inner| inner.caches.manifests = manifests)
    }

    pub(crate) fn manifest_cache(&self) -> &ManifestCache {
        &self.inner.caches.manifests
    }

    pub(crate) fn schema_cache(&self) -> &Arc<SchemaCache> {
        &self.inner.caches.schemas
    }
}

/// The branch that the options choose, unless it is the main one.
fn branch_of(schema: &TableSchema) -> Option<String> {
    schema.options.text(&BRANCH).filter(|branch| !matches!(*branch, "" | "main")).map(str::to_owned)
}
