//! Bugs that can be planted, one for each hazard: the run must catch them all (spec: reliability.md §2; decision 0011).
//!
//! A bug is planted where it would be: in what a store does, in what an actor hands over, or in maintenance that does
//! its steps in the wrong order. Nothing of the engine changes.

pub mod maintain;

use std::collections::BTreeSet;
use std::fmt;

use linn_core::write::TableWriter;
use linn_core::{Commit, CommitMessage, CommitOutcome, Committer, Snapshots, Table};
use linn_format::manifest::FileKind;
use linn_format::{Error, Result};

use super::actor::Actor;
use super::fault::{Fault, Rates};
use super::shape::{Engine, Producer, Shape};

macro_rules! hazards {
    ($($name:ident $doc:literal),+ $(,)?) => {
        /// A way in which systems of this kind have lost or doubled data (spec: reliability.md §2).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Hazard {
            $(#[doc = $doc] $name),+
        }

        impl Hazard {
            /// All of them, in order.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// What goes wrong when it is planted.
            pub fn text(self) -> &'static str {
                match self {
                    $(Self::$name => $doc),+
                }
            }
        }
    };
}

hazards! {
    H1 "A rename that is tried again after a time-out deletes the snapshot.",
    H2 "A commit of unknown outcome is made again as another one.",
    H3 "Files of a commit that may have landed are deleted.",
    H4 "A creation that met another one under way is told to be a conflict.",
    H5 "The store looks whether a file is there, then writes it.",
    H6 "Orphan cleaning lists what is used first, then what is there.",
    H7 "Expiry deletes data before it hides the snapshot.",
    H8 "Expiry stops at a hole in the history.",
    H9 "Expiry fails on what an earlier run has deleted.",
    H10 "A compaction keeps changes to itself.",
    H11 "Deletion vectors are switched on over files that need merging.",
    H12 "Two writers without an order write the same bucket.",
    H13 "A writer begins to count its rows anew.",
    H14 "The sequence field is forgotten where deletion vectors are.",
    H15 "Deletions of the same file do not see each other.",
    H16 "Expiry takes what a tag holds.",
    H17 "A writer that was replaced is not recognised.",
    H18 "The store says done before it has synced.",
    H19 "A bit of a data file flips.",
    H20 "A full disk stops a writer for ever.",
}

impl fmt::Display for Hazard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl std::str::FromStr for Hazard {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let found = Self::ALL.iter().find(|hazard| hazard.to_string().eq_ignore_ascii_case(text));
        found.copied().ok_or_else(|| Error::invalid(format!("{text:?} is not one of H1 to H20")))
    }
}

impl Hazard {
    /// The kind of table on which this bug shows, where not every kind will do.
    pub fn shape(self, drawn: Shape) -> Shape {
        match self {
            Self::H10 => Shape::of(Engine::Last).with_vectors().with_producer(Producer::Lookup),
            Self::H11 => Shape::of(Engine::Last).with("write-only", "true"),
            Self::H12 => Shape { shared: true, ..Shape::of(Engine::Last) },
            Self::H13 => Shape::of(Engine::Last),
            Self::H14 => Shape::of(Engine::BySequence).with_vectors(),
            Self::H15 => Shape { buckets: 2, shared: true, ..Shape::of(Engine::Append).with_vectors() },
            Self::H17 => Shape::of(Engine::Append),
            Self::H20 => {
                Shape::of(Engine::Last).with("write-buffer-size", "4 kb").with("write-buffer-spillable", "true")
            }
            Self::H19 => Shape::of(Engine::Last).with("file.format", "avro").with("file.compression", "none"),
            _ => drawn,
        }
    }
}

impl Hazard {
    /// Faults without which this bug does not show.
    pub fn favour(self, rates: &mut Rates) {
        match self {
            Self::H1 | Self::H2 | Self::H3 => rates.set(Fault::After, 0.05),
            Self::H8 | Self::H9 => rates.set(Fault::CrashBefore, 0.005),
            Self::H17 => rates.set(Fault::Pause, 0.01),
            _ => {}
        }
    }
}

/// What maintenance does when nothing fails any more: it must get done.
///
/// # Errors
/// What expiry yields.
pub async fn at_rest(actor: &Actor) -> Result<()> {
    if !actor.world().has(Hazard::H8) && !actor.world().has(Hazard::H9) {
        return Ok(());
    }
    maintain::expire(actor).await?;
    let left = Snapshots::new(&actor.open().await?).list().await?.len();
    if i64::try_from(left).is_ok_and(|left| left > maintain::KEPT) {
        actor.world().violation(format!("expiry leaves {left} snapshots"));
    }
    Ok(())
}

/// The table as a writer of it sees it.
pub fn table_of_writer(actor: &Actor, table: Table) -> Table {
    match actor.world().has(Hazard::H14) {
        true => without(&table, "sequence.field"),
        false => table,
    }
}

/// The table as a compaction sees it.
pub fn table_of_compactor(actor: &Actor, table: Table) -> Table {
    table_of_writer(actor, table)
}

fn without(table: &Table, option: &str) -> Table {
    let mut schema = table.schema().clone();
    schema.options.remove(option);
    table.with_schema(schema)
}

/// The commit user of a writer.
pub fn user(actor: &Actor, user: String) -> String {
    match actor.world().has(Hazard::H17) {
        true => format!("{user}.{}", actor.process.id),
        false => user,
    }
}

/// A writer of rows.
///
/// # Errors
/// As [`Table::writer`].
pub fn writer(actor: &Actor, table: &Table, user: &str) -> Result<TableWriter> {
    match actor.world().has(Hazard::H13) {
        true => table.overwriter(user),
        false => table.writer(user),
    }
}

/// What a writer or a compaction hands over.
pub fn messages(actor: &Actor, mut messages: Vec<CommitMessage>) -> Vec<CommitMessage> {
    if actor.world().has(Hazard::H10) {
        messages.iter_mut().for_each(|message| message.compact_changelog.clear());
    }
    messages
}

/// Deletes the files of a commit that failed.
pub async fn abort(actor: &Actor, messages: &[CommitMessage]) {
    if !actor.world().has(Hazard::H3) {
        return;
    }
    let Ok(table) = actor.open().await else { return };
    for message in messages {
        let Ok(folder) = table.bucket_path(&message.partition, message.bucket) else { continue };
        for file in &message.new_files {
            table.storage().delete(&format!("{folder}/{}", file.file_name)).await.ok();
        }
    }
}

/// What comes after an unknown outcome, instead of committing again until it is known.
pub async fn after_unknown(
    actor: &Actor,
    committer: &Committer,
    of: &(String, i64),
    commit: &Commit,
) -> Option<CommitOutcome> {
    if actor.world().has(Hazard::H3) {
        abort(actor, &commit.messages).await;
    }
    if !actor.world().has(Hazard::H2) {
        return None;
    }
    let table = actor.open().await.ok()?;
    let again = table.committer(format!("{}.again", committer.user()));
    loop {
        actor.rest(500).await;
        match again.commit(Commit::streaming(of.1, commit.messages.clone())).await {
            Ok(CommitOutcome::Unknown(_)) => {}
            Ok(outcome) => return Some(outcome),
            Err(_) => {}
        }
    }
}

/// Whether an error of the local disk leaves the writer waiting for ever.
pub fn wedges(actor: &Actor, error: &Error) -> bool {
    actor.world().has(Hazard::H20) && format!("{error:?}").contains("spill")
}

/// How a deletion is committed: the table that the committer sees, and the messages.
pub fn deletion(actor: &Actor, table: Table, mut messages: Vec<CommitMessage>) -> (Table, Vec<CommitMessage>) {
    if !actor.world().has(Hazard::H15) {
        return (table, messages);
    }
    for message in &mut messages {
        message.index_changes.retain(|line| line.kind == FileKind::Add);
    }
    (without(&table, "deletion-vectors.enabled"), messages)
}

/// Names of hazards, as a program takes them.
///
/// # Errors
/// `Invalid` naming what is none.
pub fn parse(names: &str) -> Result<BTreeSet<Hazard>> {
    names.split(',').filter(|name| !name.is_empty()).map(str::parse).collect()
}
