//! Bugs that can be planted, one for each hazard: the run must catch them all (spec: reliability.md §2; decision 0011).
//!
//! A bug is planted where it would be: in what a store does, in what an actor hands over, or in the steps of maintenance.
//! Nothing of the engine changes. Each has a stage, histories in which it shows, and promises that it breaks; it is caught when
//! one of these is seen broken there, while the same histories without it are clean.

pub mod maintain;
mod stage;
mod trial;

use std::collections::BTreeSet;
use std::fmt;

use linn_core::write::TableWriter;
use linn_core::{CommitMessage, Table};
use linn_format::manifest::FileKind;
use linn_format::{Error, Result};

pub use stage::{Knobs, Setup};
pub use trial::{Trial, trial};

use super::actor::Actor;

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
    H10 "A compaction now and then keeps changes to itself.",
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
    let world = actor.world();
    if world.has(Hazard::H17) {
        return format!("{user}.{}", actor.process.id);
    }
    if world.has(Hazard::H2) {
        let forgotten = world.record().actions.get(FORGOTTEN).copied().unwrap_or(0);
        return format!("{user}.{forgotten}");
    }
    user
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
    if actor.world().has(Hazard::H10) && actor.chance(3) {
        messages.iter_mut().for_each(|message| message.compact_changelog.clear());
    }
    messages
}

/// How often files are tried to be deleted.
const TRIES: u32 = 8;

/// Deletes the files of a commit that failed.
pub async fn abort(actor: &Actor, messages: &[CommitMessage]) {
    if !actor.world().has(Hazard::H3) {
        return;
    }
    // The store may be out of reach for a while.
    let mut left = TRIES;
    let table = loop {
        match actor.open().await {
            Ok(table) => break table,
            Err(_) if left > 0 => left -= 1,
            Err(_) => return,
        }
        actor.wait(4_000).await;
    };
    for message in messages {
        let Ok(folder) = table.bucket_path(&message.partition, message.bucket) else { continue };
        for file in &message.new_files {
            let path = format!("{folder}/{}", file.file_name);
            let mut left = TRIES;
            while left > 0 && table.storage().delete(&path).await.is_err() {
                left -= 1;
                actor.wait(4_000).await;
            }
        }
    }
}

/// What is counted of commits that are made anew.
const FORGOTTEN: &str = "commits made anew";

/// Whether a commit of unknown outcome is made anew by a writer that knows nothing of it, instead of being asked for until it
/// is known.
pub async fn forgets(actor: &Actor, messages: &[CommitMessage]) -> bool {
    abort(actor, messages).await;
    if actor.world().has(Hazard::H2) {
        actor.world().action(FORGOTTEN);
    }
    actor.world().has(Hazard::H2) || actor.world().has(Hazard::H3)
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
