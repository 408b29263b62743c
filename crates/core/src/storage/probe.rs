//! What a store really does, tried out: `linn doctor` and whoever wants to know before trusting it with commits (spec:
//! reliability.md H4, H5).

use std::sync::Arc;

use bytes::Bytes;
use linn_format::{Error, ErrorKind, Result};

use crate::seam::{Clock, Env, Storage};

/// Creations that race each other.
const RACERS: usize = 8;
/// Races.
const RACES: usize = 5;
/// Operations whose time is taken together.
const TIMED: i64 = 10;
/// Clocks that differ by more than this make ages of files wrong.
const SKEW_MILLIS: i64 = 5_000;

/// How a trial went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// As it must be.
    Pass,
    /// Tables work, but something else may not.
    Warn,
    /// Tables would lose commits or could not be read.
    Fail,
}

impl Verdict {
    /// `pass`, `warn` or `fail`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }
}

/// One trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trial {
    /// What was tried.
    pub name: &'static str,
    /// How it went.
    pub verdict: Verdict,
    /// What was seen.
    pub detail: String,
}

/// Tries a store out in a folder of its own below `dir` (the root when empty), which is gone afterwards.
///
/// # Errors
/// None: what fails is a trial that failed.
pub async fn probe(env: &Env, dir: &str) -> Vec<Trial> {
    let slash = if dir.is_empty() { "" } else { "/" };
    let folder = format!("{dir}{slash}.linn-doctor-{}", env.ids.uuid());
    let store = &env.storage;
    let mut trials = Vec::new();
    let mut note = |name, result: Result<(Verdict, String)>| {
        let (verdict, detail) = result.unwrap_or_else(|e| (Verdict::Fail, e.to_string()));
        trials.push(Trial { name, verdict, detail });
    };
    let written = write(store, &folder).await;
    let writable = written.is_ok();
    note("write and read back", written);
    if writable {
        note("list what was written", listed(store, &folder).await);
        note("exclusive creation", exclusive(store, &folder).await);
        note("replace and delete", replaced(store, &folder).await);
        note("clocks", clocks(store, &env.clock, &folder).await);
        note("time of an operation", timed(store, &env.clock, &folder).await);
    }
    note(
        "clean up",
        store.delete_dir(&folder).await.map(|()| (Verdict::Pass, "the test folder is deleted".to_owned())),
    );
    trials
}

fn wrong(what: impl Into<String>) -> Result<(Verdict, String)> {
    Ok((Verdict::Fail, what.into()))
}

fn right(what: impl Into<String>) -> Result<(Verdict, String)> {
    Ok((Verdict::Pass, what.into()))
}

async fn write(store: &Arc<dyn Storage>, folder: &str) -> Result<(Verdict, String)> {
    let path = format!("{folder}/written");
    let bytes = Bytes::from(vec![7; 4096]);
    store.put(&path, bytes.clone()).await?;
    if store.read(&path, None).await? != bytes || store.read(&path, Some(1..3)).await?.len() != 2 {
        return wrong("the bytes read are not the bytes written");
    }
    match store.read(&format!("{folder}/absent"), None).await {
        Err(e) if e.kind() == ErrorKind::NotFound => {
            right("4096 bytes are read back, a missing file is reported as missing")
        }
        Err(e) => wrong(format!("a missing file is reported as {}", e.kind().as_str())),
        Ok(_) => wrong("a missing file is reported as existing"),
    }
}

async fn listed(store: &Arc<dyn Storage>, folder: &str) -> Result<(Verdict, String)> {
    for i in 0..3 {
        store.put(&format!("{folder}/listed/file-{i}"), Bytes::from_static(b"x")).await?;
    }
    let found = store.list(&format!("{folder}/listed")).await?;
    match found.len() {
        3 if found.iter().all(|entry| entry.size == 1) => right("all of 3 new files are listed immediately"),
        found => wrong(format!("{found} of 3 new files are listed")),
    }
}

/// Of any number of creations at once one must win, and its bytes must be there.
async fn exclusive(store: &Arc<dyn Storage>, folder: &str) -> Result<(Verdict, String)> {
    for race in 0..RACES {
        let path = format!("{folder}/race-{race}");
        let create = |racer: usize| {
            let (store, path) = (Arc::clone(store), path.clone());
            async move { (racer, store.create(&path, Bytes::from(racer.to_string())).await) }
        };
        let mut winners = Vec::new();
        for (racer, result) in futures::future::join_all((0..RACERS).map(create)).await {
            match result {
                Ok(()) => winners.push(racer.to_string()),
                Err(e) if matches!(e.kind(), ErrorKind::AlreadyExists | ErrorKind::Unavailable) => {}
                Err(e) => return Err(e),
            }
        }
        let there = store.read(&path, None).await?;
        match winners.as_slice() {
            [winner] if winner.as_bytes() == &*there => {}
            [_] => return wrong("the file does not hold the bytes of the creation that was reported to succeed"),
            winners => {
                return wrong(format!("{} of {RACERS} concurrent creations were reported to succeed", winners.len()));
            }
        }
    }
    right(format!("exactly one of {RACERS} concurrent creations succeeded, {RACES} times"))
}

async fn replaced(store: &Arc<dyn Storage>, folder: &str) -> Result<(Verdict, String)> {
    let path = format!("{folder}/replaced");
    for text in ["one", "three"] {
        store.put(&path, Bytes::from_static(text.as_bytes())).await?;
        if store.read(&path, None).await? != text.as_bytes() {
            return wrong("old bytes are read after they were replaced");
        }
    }
    store.delete(&path).await?;
    store.delete(&path).await?;
    match store.stat(&path).await {
        Err(e) if e.kind() == ErrorKind::NotFound => {
            right("new bytes are visible immediately, deleted files no longer exist")
        }
        Err(e) => Err(e),
        Ok(_) => wrong("a deleted file still exists"),
    }
}

async fn clocks(store: &Arc<dyn Storage>, clock: &Arc<dyn Clock>, folder: &str) -> Result<(Verdict, String)> {
    let path = format!("{folder}/clock");
    let before = clock.now_millis();
    store.put(&path, Bytes::from_static(b"x")).await?;
    let after = clock.now_millis();
    let Some(stored) = store.stat(&path).await?.modified_millis else {
        let what = "the store does not tell when files were changed: orphan cleaning would never delete anything";
        return Ok((Verdict::Warn, what.to_owned()));
    };
    // Stores round to seconds.
    let skew = if stored < before { before - stored } else { (stored - after).max(0) };
    let way = if stored < before { "behind" } else { "ahead of" };
    let what = format!("the store's clock is {skew} ms {way} this machine's");
    Ok((if skew > SKEW_MILLIS { Verdict::Warn } else { Verdict::Pass }, what))
}

async fn timed(store: &Arc<dyn Storage>, clock: &Arc<dyn Clock>, folder: &str) -> Result<(Verdict, String)> {
    let start = clock.now_millis();
    for i in 0..TIMED {
        store.put(&format!("{folder}/timed-{i}"), Bytes::from_static(b"x")).await?;
    }
    let put = clock.now_millis();
    for i in 0..TIMED {
        store.read(&format!("{folder}/timed-{i}"), None).await?;
    }
    let read = clock.now_millis();
    for _ in 0..TIMED {
        store.list(folder).await?;
    }
    let list = clock.now_millis();
    let each = |from: i64, to: i64| (to - from) as f64 / TIMED as f64;
    let (put, read, list) = (each(start, put), each(put, read), each(read, list));
    let slow = put.max(read).max(list) > 1000.0;
    let what = format!("write {put:.1} ms, read {read:.1} ms, list {list:.1} ms");
    Ok((if slow { Verdict::Warn } else { Verdict::Pass }, what))
}

/// The error for a store that failed a trial which commits rest on.
///
/// # Errors
/// `Unsupported` naming the first trial that failed.
pub fn judge(trials: &[Trial]) -> Result<()> {
    match trials.iter().find(|trial| trial.verdict == Verdict::Fail) {
        Some(trial) => Err(Error::unsupported(format!("tables on this store: {} fails", trial.name))
            .with("seen", &trial.detail)
            .with_hint("use a store with exclusive creation and immediately visible writes")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{env, memory};
    use crate::seam::SeededIds;
    use crate::storage::{Fault, Faulty, Local, Op};

    fn verdicts(trials: &[Trial]) -> Vec<(&'static str, Verdict)> {
        trials.iter().filter(|t| t.verdict != Verdict::Pass).map(|t| (t.name, t.verdict)).collect()
    }

    #[tokio::test]
    async fn stores_that_keep_their_word_pass() {
        let store = memory();
        let trials = probe(&env(store.clone(), 1), "").await;
        assert_eq!((verdicts(&trials), store.paths()), (vec![], vec![]));
        assert!(judge(&trials).is_ok() && trials.len() == 7);
        let dir = tempfile::tempdir().unwrap();
        let local = Arc::new(Local::new(dir.path(), Arc::new(SeededIds::new(3))));
        let mut real = env(local, 1);
        real.clock = Arc::new(crate::seam::SystemClock);
        assert_eq!(verdicts(&probe(&real, "a/b").await), []);
    }

    #[tokio::test]
    async fn stores_that_do_not_are_found_out() {
        let faulty = Faulty::new(memory());
        faulty.inject(Op::Create, "race-0", 0, 1, Fault::Before(ErrorKind::Unsupported));
        let trials = probe(&env(Arc::new(faulty), 1), "").await;
        assert_eq!(verdicts(&trials), [("exclusive creation", Verdict::Fail)]);
        assert_eq!(judge(&trials).unwrap_err().kind(), ErrorKind::Unsupported);

        // A creation that only replaces.
        let faulty = Faulty::new(memory());
        faulty.inject(Op::Create, "race-2", 1, 1, Fault::After(ErrorKind::Unavailable));
        faulty.inject(Op::Create, "race-2", 0, 1, Fault::Before(ErrorKind::Unavailable));
        let trials = probe(&env(Arc::new(faulty), 1), "").await;
        assert_eq!(verdicts(&trials), [("exclusive creation", Verdict::Fail)]);

        let faulty = Faulty::new(memory());
        faulty.inject(Op::Put, "written", 0, 1, Fault::Before(ErrorKind::Invalid));
        assert_eq!(verdicts(&probe(&env(Arc::new(faulty), 1), "").await), [("write and read back", Verdict::Fail)]);

        // The store's clock stands still while ours goes on.
        let late = env(memory(), 1);
        let clock = Arc::new(crate::seam::ManualClock::new(crate::fixture::NOW + 60_000));
        let trials = probe(&Env { clock, ..late }, "").await;
        assert_eq!(verdicts(&trials), [("clocks", Verdict::Warn)]);
    }
}
