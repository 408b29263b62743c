//! What of a snapshot is a change that readers are told (spec: features.md B11).

use linn_format::options::{ChangelogProducer, MergeEngine};
use linn_format::snapshot::{CommitKind, Snapshot};
use linn_format::{Error, Result};

use crate::scan::{Plan, Scan};
use crate::table::Table;

/// The rules of one table.
#[derive(Debug, Clone, Copy)]
pub(super) struct Follow {
    producer: ChangelogProducer,
    keyed: bool,
    shows_overwrites: bool,
}

fn untold(table: &Table, engine: MergeEngine) -> Error {
    let producers = match engine {
        MergeEngine::FirstRow => "lookup",
        _ => "lookup or full-compaction; with input, rows are read as they were written",
    };
    Error::invalid(format!("the changes of a table with merge-engine {engine} cannot be followed without a changelog"))
        .with("table", table.name())
        .with_hint(format!("set the option changelog-producer to {producers}"))
}

impl Follow {
    /// # Errors
    /// `Invalid` for options that cannot be read, and for a table whose rows as they were written do not say what became of their
    /// keys.
    pub(super) fn of(table: &Table) -> Result<Self> {
        let (options, keyed) = (table.options(), table.schema().is_primary_key_table());
        let engine = options.merge_engine()?;
        if keyed && engine != MergeEngine::Deduplicate && options.changelog_producer()? == ChangelogProducer::None {
            return Err(untold(table, engine));
        }
        Ok(Self {
            producer: options.changelog_producer()?,
            keyed,
            shows_overwrites: match keyed {
                true => options.streaming_read_overwrite()?,
                false => options.streaming_read_append_overwrite()?,
            },
        })
    }

    /// Whether rows come as they were written, so that what a key's row was before is not told.
    pub(super) fn upserts(&self) -> bool {
        self.keyed && self.producer == ChangelogProducer::None
    }

    /// The splits of the changes of a snapshot; `None` when it tells none.
    pub(super) async fn plan(&self, scan: &Scan, snapshot: &Snapshot) -> Result<Option<Plan>> {
        let plan = match (snapshot.commit_kind, self.producer) {
            (CommitKind::Overwrite, _) if self.shows_overwrites && self.keyed => scan.plan_replaced(snapshot).await?,
            (CommitKind::Overwrite, _) if self.shows_overwrites => scan.plan_delta(snapshot).await?,
            (CommitKind::Append, ChangelogProducer::None) => scan.plan_delta(snapshot).await?,
            (_, ChangelogProducer::None) => return Ok(None),
            _ if snapshot.changelog_manifest_list.is_some() => scan.plan_changelog(snapshot).await?,
            _ => return Ok(None),
        };
        Ok(Some(plan).filter(|plan| !plan.splits.is_empty()))
    }
}
