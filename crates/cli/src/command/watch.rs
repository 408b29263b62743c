//! Doing something again whenever tables have changed, until the user interrupts: what was begun is finished first.

use std::collections::HashMap;

use linn::core::seam::{Clock, SystemClock};
use linn::{Identifier, SnapshotId};
use tokio::sync::watch::{Receiver, channel};

use crate::interrupt::stop_signal;
use crate::say::say;

/// What was seen, and whether to stop.
pub(super) struct Watch {
    seen: HashMap<Identifier, Option<SnapshotId>>,
    stop: Receiver<bool>,
}

impl Watch {
    /// Nothing was seen. From now on the first interrupt asks to stop; the second one ends the process as usual.
    pub(super) fn new() -> Self {
        let (send, stop) = channel(false);
        tokio::spawn(async move {
            if stop_signal().await {
                say!("Stopping after the running work; interrupt again to stop at once.");
                send.send_replace(true);
                stop_signal().await;
                std::process::exit(crate::interrupt::CODE);
            }
        });
        Self { seen: HashMap::new(), stop }
    }

    /// Whether the user interrupted.
    pub(super) fn is_stopped(&self) -> bool {
        *self.stop.borrow()
    }

    /// Whether nothing was to be done at this snapshot.
    pub(super) fn has_seen(&self, id: &Identifier, snapshot: Option<SnapshotId>) -> bool {
        self.seen.get(id) == Some(&snapshot)
    }

    /// Notes that nothing is to be done at this snapshot.
    pub(super) fn saw(&mut self, id: &Identifier, snapshot: Option<SnapshotId>) {
        self.seen.insert(id.clone(), snapshot);
    }

    /// Waits so many seconds; false when the user interrupted.
    pub(super) async fn pause(&mut self, seconds: u64) -> bool {
        let mut stop = self.stop.clone();
        tokio::select! {
            () = SystemClock.sleep(seconds.saturating_mul(1000)) => !self.is_stopped(),
            stopped = stop.wait_for(|stop| *stop) => stopped.is_err(),
        }
    }
}
