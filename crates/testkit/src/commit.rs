//! What every [`SnapshotCommit`] keeps: of all snapshots with one number one is committed, and an outcome that is told is true.

use std::sync::Arc;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use linn_core::Env;
use linn_core::seam::{Attempt, NewSnapshot, Published, Storage};
use linn_core::storage::{Fault, Faulty, Memory, Op};
use linn_format::ErrorKind;
use linn_format::snapshot::Snapshot;

/// Committers that race for one number.
const RACERS: i64 = 16;
/// Calls to the store that fail in a row when it is out.
const OUTAGE: usize = 1_000;

/// Checks an implementation. `over` makes an environment over a new, empty store, whose snapshots it commits.
pub async fn conforms(over: impl Fn(Arc<dyn Storage>) -> Env) {
    let fresh = || {
        let clock = Arc::new(linn_core::seam::ManualClock::new(0));
        let store = Faulty::new(Arc::new(Memory::new(clock)));
        (over(Arc::new(store.clone())), store)
    };
    numbers_are_given_once(&fresh().0).await;
    branches_have_their_own_numbers(&fresh().0).await;
    one_of_many_comes_through(&fresh().0).await;
    let (env, store) = fresh();
    an_outage_is_not_a_commit(&env, &store).await;
    for kind in [ErrorKind::UnknownOutcome, ErrorKind::Unavailable] {
        for happens in [true, false] {
            let (env, store) = fresh();
            a_lost_answer_is_found_out(&env, &store, if happens { Fault::After(kind) } else { Fault::Before(kind) })
                .await;
        }
    }
}

/// The snapshot of a number, told apart by its user.
fn snapshot(id: i64, user: i64) -> Snapshot {
    let json = serde_json::json!({
        "version": 3,
        "id": id,
        "schemaId": 0,
        "baseManifestList": format!("manifest-list-{user}-0"),
        "deltaManifestList": format!("manifest-list-{user}-1"),
        "commitUser": format!("user-{user}"),
        "commitIdentifier": user,
        "commitKind": "APPEND",
        "timeMillis": 0,
    });
    Snapshot::from_json(json.to_string().as_bytes()).expect("a snapshot")
}

fn path(branch: Option<&str>, id: i64) -> String {
    match branch {
        Some(branch) => format!("db.db/t/branch/branch-{branch}/snapshot/snapshot-{id}"),
        None => format!("db.db/t/snapshot/snapshot-{id}"),
    }
}

async fn commit_to(env: &Env, branch: Option<&str>, snapshot: &Snapshot, attempt: Attempt) -> Published {
    let path = path(branch, snapshot.id.0);
    let new = NewSnapshot { table: "db.t", branch, path: &path, snapshot, attempt };
    env.commit.commit(env, new).await.expect("a snapshot that can be written")
}

async fn commit(env: &Env, snapshot: &Snapshot) -> Published {
    commit_to(env, None, snapshot, Attempt::First).await
}

async fn again(env: &Env, snapshot: &Snapshot) -> Published {
    commit_to(env, None, snapshot, Attempt::AfterUncertain).await
}

/// What readers find under a number.
async fn there(env: &Env, branch: Option<&str>, id: i64) -> Option<Snapshot> {
    match env.storage.read(&path(branch, id), None).await {
        Ok(bytes) => Some(Snapshot::from_json(&bytes).expect("a snapshot")),
        Err(e) if e.kind() == ErrorKind::NotFound => None,
        Err(e) => panic!("{e}"),
    }
}

fn is(published: &Published, wanted: &Published) {
    let same = std::mem::discriminant(published) == std::mem::discriminant(wanted);
    assert!(same, "{published:?} where it should be {wanted:?}");
}

async fn numbers_are_given_once(env: &Env) {
    let (ours, theirs) = (snapshot(1, 1), snapshot(1, 2));
    is(&commit(env, &ours).await, &Published::Done);
    is(&again(env, &ours).await, &Published::Done);
    is(&commit(env, &theirs).await, &Published::Taken);
    is(&again(env, &theirs).await, &Published::Taken);
    assert_eq!(there(env, None, 1).await, Some(ours));
    is(&commit(env, &snapshot(2, 2)).await, &Published::Done);
}

async fn branches_have_their_own_numbers(env: &Env) {
    let (main, branch) = (snapshot(1, 1), snapshot(1, 2));
    is(&commit(env, &main).await, &Published::Done);
    is(&commit_to(env, Some("b"), &branch, Attempt::First).await, &Published::Done);
    assert_eq!(there(env, None, 1).await, Some(main));
    assert_eq!(there(env, Some("b"), 1).await, Some(branch));
}

async fn one_of_many_comes_through(env: &Env) {
    let racers: FuturesUnordered<_> = (0..RACERS)
        .map(|user| async move {
            let snapshot = snapshot(1, user);
            (commit(env, &snapshot).await, snapshot)
        })
        .collect();
    let ended: Vec<(Published, Snapshot)> = racers.collect().await;
    let won: Vec<&Snapshot> =
        ended.iter().filter(|(how, _)| matches!(how, Published::Done)).map(|(_, snapshot)| snapshot).collect();
    assert_eq!(won.len(), 1, "{ended:?}");
    assert!(ended.iter().all(|(how, _)| matches!(how, Published::Done | Published::Taken)), "{ended:?}");
    assert_eq!(there(env, None, 1).await.as_ref(), won.first().copied());
}

/// While the store is out nothing is done and nobody else has the number; afterwards the same snapshot can be committed.
async fn an_outage_is_not_a_commit(env: &Env, store: &Faulty) {
    for op in [Op::Create, Op::Put, Op::Read, Op::Stat] {
        store.inject(op, "snapshot", 0, OUTAGE, Fault::Before(ErrorKind::Unavailable));
    }
    let ours = snapshot(1, 1);
    let published = commit(env, &ours).await;
    assert!(matches!(published, Published::Failed(_) | Published::Uncertain(_)), "{published:?}");
    while store.is_waiting() {
        for op in [Op::Create, Op::Put, Op::Read, Op::Stat] {
            drain(store, op).await;
        }
    }
    is(&again(env, &ours).await, &Published::Done);
    is(&commit(env, &snapshot(1, 2)).await, &Published::Taken);
}

/// Uses up a fault that was injected.
async fn drain(store: &Faulty, op: Op) {
    let path = "drained/snapshot";
    match op {
        Op::Create => drop(store.create(path, "x".into()).await),
        Op::Put => drop(store.put(path, "x".into()).await),
        Op::Read => drop(store.read(path, None).await),
        _ => drop(store.stat(path).await),
    }
}

/// A fault of the one call that counts: whatever is said of it, the same snapshot is committed in the end.
async fn a_lost_answer_is_found_out(env: &Env, store: &Faulty, fault: Fault) {
    for op in [Op::Create, Op::Put] {
        store.inject(op, "snapshot", 0, 1, fault);
    }
    let ours = snapshot(1, 1);
    match commit(env, &ours).await {
        Published::Done => {}
        Published::Failed(_) => {
            assert_eq!(there(env, None, 1).await, None, "{fault:?}: a failed commit is not there");
            is(&commit(env, &ours).await, &Published::Done);
        }
        Published::Uncertain(_) => is(&again(env, &ours).await, &Published::Done),
        Published::Taken => panic!("{fault:?}: nobody else has the number"),
    }
    assert_eq!(there(env, None, 1).await, Some(ours));
    is(&commit(env, &snapshot(1, 2)).await, &Published::Taken);
}

#[cfg(test)]
mod tests {
    use linn_core::seam::{LocalSpawn, ManualClock, SeededIds};

    use super::*;

    fn env(storage: Arc<dyn Storage>) -> Env {
        let clock = Arc::new(ManualClock::new(0));
        Env::new(storage, clock, Arc::new(SeededIds::new(1)), Arc::new(LocalSpawn), std::env::temp_dir())
    }

    #[tokio::test]
    async fn the_store_as_committer_conforms() {
        conforms(env).await;
    }
}
