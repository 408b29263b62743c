//! The pieces of work that are cut, and the tables on which they are done.

use super::act::Act;
use crate::sim::shape::{Engine, Producer, Shape};

/// A piece of work on a kind of table.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// Its name.
    pub name: &'static str,
    pub(super) shape: Shape,
    pub(super) act: Act,
}

/// All pieces of work that are cut.
pub fn scenarios() -> Vec<Scenario> {
    let last = || Shape::of(Engine::Last);
    // Compactions leave files to expire.
    let busy = || last().with("num-sorted-run.compaction-trigger", "2");
    let lazy = || last().with("write-only", "true");
    let all = [
        ("append", Shape::of(Engine::Append), Act::Write),
        ("upsert", busy(), Act::Write),
        ("sequence", Shape::of(Engine::BySequence), Act::Write),
        ("partial-update", Shape::of(Engine::Partial), Act::Write),
        ("aggregation", Shape::of(Engine::Sum), Act::Write),
        ("first-row", Shape::of(Engine::First), Act::Write),
        ("dynamic-bucket", Shape { buckets: -1, ..last() }, Act::Write),
        ("postponed", Shape { buckets: -2, ..last() }, Act::Compact),
        ("compaction", lazy(), Act::Compact),
        ("append-compaction", Shape::of(Engine::Append).with("compaction.min.file-num", "2"), Act::Compact),
        ("deletion-vectors", last().with_vectors(), Act::Write),
        ("deletion", Shape::of(Engine::Append).with_vectors(), Act::Delete),
        ("lookup-changelog", last().with_producer(Producer::Lookup), Act::Write),
        ("full-changelog", lazy().with_producer(Producer::Full), Act::Compact),
        ("overwrite", last(), Act::Replace),
        ("schema-change", last(), Act::Alter),
        ("rescale", last(), Act::Rescale),
        ("manifest-compaction", last(), Act::Manifests),
        ("tag", last(), Act::Tag),
        ("tag-deletion", busy(), Act::Untag),
        ("expiry", busy(), Act::Expire),
        (
            "changelog-expiry",
            busy()
                .with_producer(Producer::Input)
                .with("snapshot.num-retained.max", "100")
                .with("changelog.num-retained.max", "1000"),
            Act::ExpireChangelogs,
        ),
        ("partition-expiry", last(), Act::DropPartition),
        ("orphan-cleaning", busy(), Act::Clean),
        ("rollback", busy(), Act::Rollback),
        ("branch", busy(), Act::Branch),
        ("fast-forward", busy(), Act::Forward),
    ];
    all.into_iter().map(|(name, shape, act)| Scenario { name, shape, act }).collect()
}
