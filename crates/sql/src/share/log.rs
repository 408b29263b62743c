//! A stream of batches that several readers take, each at its own pace.
//!
//! The stream goes on when the fastest reader asks for more, so that no reader ever waits for another one: a join may read
//! its one side to the end before it looks at the other. What slower readers have not taken yet stays in memory up to a bound,
//! and on local disk beyond it; what all have taken goes.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use datafusion::arrow::array::RecordBatch;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, SpillFile};
use datafusion::physical_plan::SpillManager;
use datafusion::physical_plan::spill::get_record_batch_memory_size;
use futures::{Stream, StreamExt};
use tokio::sync::Notify;

/// Batches that are made before anybody asks for them.
const AHEAD: usize = 2;

/// The log of one stream.
#[derive(Debug)]
pub(super) struct Log {
    state: Mutex<State>,
    /// There is more, or the end.
    news: Notify,
    /// Somebody wants more, or has gone.
    wish: Notify,
    spill: Spill,
}

/// Where batches go that do not fit.
pub(super) struct Spill {
    pub(super) manager: SpillManager,
    /// Bytes that stay in memory.
    pub(super) limit: usize,
}

impl std::fmt::Debug for Spill {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Spill").field("limit", &self.limit).finish_non_exhaustive()
    }
}

#[derive(Debug, Default)]
struct State {
    /// Batches that somebody still wants, of which the first has the number `first`.
    batches: VecDeque<Held>,
    first: usize,
    /// Bytes in memory.
    memory: usize,
    end: Option<Result<(), Arc<DataFusionError>>>,
    /// The next batch of each reader.
    readers: BTreeMap<usize, usize>,
    /// How many batches have been asked for.
    wanted: usize,
}

#[derive(Clone)]
enum Held {
    Memory(RecordBatch, usize),
    /// The file, and the place in it.
    Disk(Arc<dyn SpillFile>, usize),
}

impl std::fmt::Debug for Held {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Memory(_, bytes) => f.debug_tuple("Memory").field(bytes).finish(),
            Self::Disk(_, place) => f.debug_tuple("Disk").field(place).finish(),
        }
    }
}

impl State {
    fn next(&self) -> usize {
        self.first + self.batches.len()
    }

    /// Forgets what all readers have taken.
    fn forget(&mut self) {
        let least = self.readers.values().copied().min().unwrap_or(usize::MAX);
        while self.first < least
            && let Some(held) = self.batches.pop_front()
        {
            self.first += 1;
            if let Held::Memory(_, bytes) = held {
                self.memory = self.memory.saturating_sub(bytes);
            }
        }
    }
}

impl Log {
    /// An empty log for the readers `0..readers`.
    pub(super) fn new(readers: usize, spill: Spill) -> Arc<Self> {
        let state = State { readers: (0..readers).map(|reader| (reader, 0)).collect(), ..State::default() };
        Arc::new(Self { state: Mutex::new(state), news: Notify::new(), wish: Notify::new(), spill })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the batches of a stream in, as long as somebody wants them.
    pub(super) async fn fill(self: Arc<Self>, mut rows: SendableRecordBatchStream) {
        let guard = Ends(&self);
        loop {
            let wish = self.wish.notified();
            let (idle, left) = {
                let state = self.state();
                (state.next() >= state.wanted + AHEAD, state.readers.is_empty())
            };
            if left {
                return guard.end(Ok(()));
            }
            if idle {
                wish.await;
                continue;
            }
            match rows.next().await {
                Some(Ok(batch)) => {
                    if let Err(e) = self.push(batch) {
                        return guard.end(Err(e));
                    }
                }
                Some(Err(e)) => return guard.end(Err(e)),
                None => return guard.end(Ok(())),
            }
        }
    }

    fn push(&self, batch: RecordBatch) -> Result<()> {
        let bytes = get_record_batch_memory_size(&batch);
        let mut state = self.state();
        state.memory += bytes;
        state.batches.push_back(Held::Memory(batch, bytes));
        state.forget();
        if state.memory > self.spill.limit {
            self.unload(&mut state)?;
        }
        drop(state);
        self.news.notify_waiters();
        Ok(())
    }

    /// Writes what is in memory to a file.
    fn unload(&self, state: &mut State) -> Result<()> {
        let held = state.batches.iter().filter_map(|held| match held {
            Held::Memory(batch, _) => Some(batch.clone()),
            Held::Disk(..) => None,
        });
        let batches: Vec<RecordBatch> = held.collect();
        let Some(file) = self.spill.manager.spill_record_batch_and_finish(&batches, "rows of a statement set")? else {
            return Ok(());
        };
        let in_memory = state.batches.iter_mut().filter(|held| matches!(held, Held::Memory(..)));
        for (place, held) in in_memory.enumerate() {
            *held = Held::Disk(Arc::clone(&file), place);
        }
        state.memory = 0;
        Ok(())
    }

    fn end(&self, end: Result<()>) {
        let mut state = self.state();
        state.end.get_or_insert(end.map_err(Arc::new));
        drop(state);
        self.news.notify_waiters();
    }

    /// The batches for one reader, who takes them once.
    pub(super) fn read(self: &Arc<Self>, reader: Arc<Reader>) -> impl Stream<Item = Result<RecordBatch>> + use<> {
        let state = (Arc::clone(self), reader, None::<Open>);
        futures::stream::try_unfold(state, |(log, reader, open)| async move {
            let Some(held) = log.next(reader.number).await? else { return Ok(None) };
            let (batch, open) = log.load(held, open).await?;
            Ok(Some((batch, (log, reader, open))))
        })
    }

    async fn next(&self, reader: usize) -> Result<Option<Held>> {
        loop {
            let news = self.news.notified();
            {
                let mut state = self.state();
                let Some(at) = state.readers.get(&reader).copied() else { return Ok(None) };
                if let Some(held) = at.checked_sub(state.first).and_then(|place| state.batches.get(place)).cloned() {
                    state.readers.insert(reader, at + 1);
                    state.wanted = state.wanted.max(at + 1);
                    state.forget();
                    drop(state);
                    self.wish.notify_one();
                    return Ok(Some(held));
                }
                match &state.end {
                    Some(Ok(())) => return Ok(None),
                    Some(Err(e)) => return Err(DataFusionError::Shared(Arc::clone(e))),
                    None => state.wanted = state.wanted.max(at + 1),
                }
            }
            self.wish.notify_one();
            news.await;
        }
    }

    async fn load(&self, held: Held, open: Option<Open>) -> Result<(RecordBatch, Option<Open>)> {
        let (file, place) = match held {
            Held::Memory(batch, _) => return Ok((batch, None)),
            Held::Disk(file, place) => (file, place),
        };
        let mut open = match open {
            Some(open) if Arc::ptr_eq(&open.file, &file) && open.next <= place => open,
            _ => {
                let rows = self.spill.manager.read_spill_as_stream(Arc::clone(&file), None)?;
                Open { file, rows, next: 0 }
            }
        };
        loop {
            let batch = open.rows.next().await.transpose()?;
            let Some(batch) = batch else {
                return Err(DataFusionError::Internal("a file of waiting rows ends early".to_owned()));
            };
            open.next += 1;
            if open.next > place {
                return Ok((batch, Some(open)));
            }
        }
    }
}

/// A file that a reader is in.
struct Open {
    file: Arc<dyn SpillFile>,
    rows: SendableRecordBatchStream,
    next: usize,
}

/// Ends a log with an error when nobody else does: when its task panics or is dropped.
struct Ends<'a>(&'a Log);

impl Ends<'_> {
    fn end(&self, end: Result<()>) {
        self.0.end(end);
    }
}

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.end(Err(DataFusionError::Execution("reading rows that several statements share failed".to_owned())));
    }
}

/// A reader; when it is gone nothing is kept for it.
#[derive(Debug)]
pub(super) struct Reader {
    pub(super) number: usize,
    pub(super) log: Arc<std::sync::OnceLock<Arc<Log>>>,
}

impl Drop for Reader {
    fn drop(&mut self) {
        let Some(log) = self.log.get() else { return };
        let mut state = log.state();
        state.readers.remove(&self.number);
        state.forget();
        drop(state);
        log.wish.notify_one();
    }
}
