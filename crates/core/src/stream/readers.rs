//! Several readers that share a table's buckets and are one consumer (spec: features.md B11; cases: R1).
//!
//! They begin at the same place, and the consumer's progress is that of the slowest. With `consumer.mode` `exactly-once` no
//! reader begins with a snapshot before all have saved the end of the one before, so that a restart from the recorded progress
//! repeats nothing; with `at-least-once` each reads at its own pace, and a restart repeats what the faster ones had.

use std::sync::Arc;

use linn_format::options::ConsumerMode;
use linn_format::{Error, Result, SnapshotId};
use tokio::sync::{Mutex, watch};

use super::position::Position;
use super::start::{Start, start};
use super::{ChangesBuilder, Consumers};
use crate::scan::Split;
use crate::table::Table;

/// The readers of one consumer.
#[derive(Debug)]
pub struct Readers {
    table: Table,
    consumer: String,
    mode: ConsumerMode,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    begun: Mutex<Option<Start>>,
    places: watch::Sender<Vec<Place>>,
    /// What is recorded.
    recorded: Mutex<Option<SnapshotId>>,
}

/// Where a reader is.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    /// The snapshot that it reads next, as far as it has saved.
    next: Option<SnapshotId>,
    /// Whether it was dropped.
    gone: bool,
}

/// One of several readers. Dropping it lets the others go on, but what it has not saved stays unread for
/// the consumer.
#[derive(Debug)]
pub struct Reader {
    consumer: Consumers,
    id: String,
    member: Arc<Member>,
}

/// The place of a reader among the others.
#[derive(Debug)]
pub(super) struct Member {
    number: usize,
    count: usize,
    mode: ConsumerMode,
    shared: Arc<Shared>,
}

impl Readers {
    /// So many readers, in the name of the table's `consumer-id`.
    ///
    /// # Errors
    /// `Invalid` without a `consumer-id`, for no reader at all, and for another `consumer.mode`.
    pub fn new(table: &Table, count: usize) -> Result<Self> {
        let Some(consumer) = table.options().consumer_id() else {
            return Err(Error::invalid("readers that share a table need a name")
                .with("table", table.name())
                .with_hint("set consumer-id"));
        };
        if count == 0 {
            return Err(Error::invalid("the number of readers must be above 0").with("table", table.name()));
        }
        let shared = Shared {
            begun: Mutex::default(),
            places: watch::Sender::new(vec![Place::default(); count]),
            recorded: Mutex::default(),
        };
        Ok(Self {
            table: table.clone(),
            consumer: consumer.to_owned(),
            mode: table.options().consumer_mode()?,
            shared: Arc::new(shared),
        })
    }

    /// All readers, each with what it reads.
    pub fn all(&self) -> Vec<(Reader, ChangesBuilder)> {
        let count = self.shared.places.borrow().len();
        (0..count)
            .map(|number| {
                let shared = Arc::clone(&self.shared);
                let member = Arc::new(Member { number, count, mode: self.mode, shared });
                let changes = self.table.changes().member(Arc::clone(&member));
                (Reader { consumer: Consumers::new(&self.table), id: self.consumer.clone(), member }, changes)
            })
            .collect()
    }
}

impl Reader {
    /// Saves what this reader has delivered. The consumer's file is written when the slowest reader has come further.
    ///
    /// # Errors
    /// What the store yields; saving again tries again.
    pub async fn save(&self, position: &Position) -> Result<()> {
        let Some(next) = position.for_consumer() else { return Ok(()) };
        let mut recorded = self.member.shared.recorded.lock().await;
        let mut slowest = None;
        self.member.shared.places.send_modify(|all| {
            if let Some(mine) = all.get_mut(self.member.number) {
                mine.next = mine.next.max(Some(next));
            }
            // Whoever has saved nothing has read nothing.
            slowest = all.iter().map(|place| place.next).min().flatten();
        });
        if let Some(slowest) = slowest.filter(|slowest| recorded.is_none_or(|recorded| recorded < *slowest)) {
            self.consumer.set(&self.id, slowest).await?;
            *recorded = Some(slowest);
        }
        Ok(())
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.member.shared.places.send_modify(|all| {
            if let Some(mine) = all.get_mut(self.member.number) {
                mine.gone = true;
            }
        });
    }
}

impl Member {
    /// Where all readers begin.
    pub(super) async fn begin(&self, table: &Table) -> Result<Start> {
        let mut begun = self.shared.begun.lock().await;
        if let Some(start) = &*begun {
            return Ok(start.clone());
        }
        let found = start(table).await?;
        if !matches!(found, Start::Later) {
            *begun = Some(found.clone());
        }
        Ok(found)
    }

    /// Waits until this reader may begin with the changes of a snapshot.
    pub(super) async fn turn(&self, id: SnapshotId) {
        if self.mode == ConsumerMode::AtLeastOnce {
            return;
        }
        if matches!(&*self.shared.begun.lock().await, Some(Start::Changes(first)) if *first == id) {
            return;
        }
        let mut places = self.shared.places.subscribe();
        let there = |place: &Place| place.gone || place.next.is_some_and(|next| next >= id);
        // The sender is kept by this member, so that waiting cannot fail.
        let _ = places.wait_for(|all| all.iter().all(there)).await;
    }

    /// Whether a split is this reader's: buckets stay together, and so do the files of one split without.
    pub(super) fn reads(&self, split: &Split, bucketed: bool) -> bool {
        let key = match bucketed {
            true => u64::from(split.bucket.unsigned_abs()),
            false => split.files.first().map_or(0, |file| {
                file.file_name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
                    (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
                })
            }),
        };
        usize::try_from(key % self.count as u64).unwrap_or(0) == self.number
    }
}
