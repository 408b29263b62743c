//! The processes of a history and what they do: each follows the documented contract of what it calls, meets the faults of
//! its store, and may end anywhere.

pub mod alter;
pub mod branch;
pub mod clean;
pub mod compact;
pub mod delete;
pub mod expire;
pub mod follow;
pub mod increment;
pub mod read;
pub mod tag;
pub mod write;

use std::sync::Arc;

use linn_core::{Schemas, Table};
use linn_format::{Error, ErrorKind, Result};
use rand::Rng;

use super::shape::Shape;
use super::violation::Broken;
use super::world::{Process, World};

/// The table's name for messages.
pub const NAME: &str = "db.t";
/// Where it lies.
pub const PATH: &str = "db.db/t";

/// A process and the kind of table that it works on.
#[derive(Clone)]
pub struct Actor {
    /// The process.
    pub process: Arc<Process>,
    /// The table's kind.
    pub shape: Arc<Shape>,
}

/// Does something again as long as the actor is patient with its failures.
macro_rules! again {
    ($actor:expr, $work:expr) => {{
        let mut left = $actor.patience();
        loop {
            match $work.await {
                Ok(done) => break Ok(done),
                Err(e) if left > 0 && $actor.is_transient(&e) => {
                    left -= 1;
                    $actor.wait(300).await;
                }
                Err(e) => break Err(e),
            }
        }
    }};
}
pub(crate) use again;

impl Actor {
    /// The world.
    pub fn world(&self) -> &Arc<World> {
        &self.process.world
    }

    /// The table at its newest schema.
    ///
    /// # Errors
    /// What reading the schema yields.
    pub async fn open(&self) -> Result<Table> {
        let env = self.process.env();
        let schema = Schemas::at(Arc::clone(&env.storage), PATH).latest().await?;
        let schema = schema.ok_or_else(|| Error::not_found("the table has no schema"))?;
        Ok(Table::new(NAME, PATH, (*schema).clone(), env))
    }

    /// Rests up to `millis` in virtual time between two pieces of work, longer when nothing is committed, and over a night;
    /// as the history says where it is about one thing.
    pub async fn rest(&self, millis: u64) {
        let quiet = self.world().is_quiet();
        let knobs = self.world().knobs;
        let most = if self.process.name == write::NAME { knobs.writers_rest } else { knobs.others_rest };
        self.wait(match most {
            Some(most) => most,
            // Nothing new to look at: nobody hurries.
            None if quiet => millis * 20,
            None => millis,
        })
        .await;
        while let Some(left) = self.world().night() {
            self.wait(left + 1_000).await;
        }
    }

    /// Rests, and says whether there is more to do: not when another process took over meanwhile.
    pub async fn comes_again(&self, millis: u64) -> bool {
        self.rest(millis).await;
        !self.process.is_replaced()
    }

    /// Waits up to `millis` in virtual time.
    pub async fn wait(&self, millis: u64) {
        let millis = self.world().draw(|random| random.random_range(1..=millis));
        self.world().executor.sleep(millis).await;
    }

    /// Whether something happens that happens one time in `of`.
    pub fn chance(&self, of: u32) -> bool {
        self.world().draw(|random| random.random_ratio(1, of))
    }

    /// How often a failing step is tried again before its session ends. Sometimes not at all: what a session leaves behind
    /// must not matter.
    pub fn patience(&self) -> u32 {
        if !self.world().faults() {
            return 5;
        }
        self.world().draw(|random| [0, 2, 8][random.random_range(0..3)])
    }

    /// Whether an error is one that faults of the store explain.
    pub fn is_transient(&self, error: &Error) -> bool {
        match error.kind() {
            ErrorKind::Unavailable | ErrorKind::UnknownOutcome => true,
            ErrorKind::Corrupt => self.process.was_lied_to(),
            _ => false,
        }
    }

    /// Notes an error that no fault explains.
    pub fn judge(&self, what: &str, error: &Error) {
        if !self.is_transient(error) {
            let what = format!("{what} of {:?} failed: {error:?}", self.process);
            self.world().violation(Broken::by_error(error), what);
        }
    }
}
