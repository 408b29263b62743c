//! A reader hears of commits of its own process at once, and looks for those of others at its interval.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use linn_core::{Clock, Env, Schemas, Table, storage};
use linn_format::options::Options;

use crate::case::{Case, schema};
use crate::follow::next;

/// A clock whose sleeps end only when the test lets them, and are counted.
#[derive(Debug, Default)]
struct Gate {
    sleeps: AtomicU64,
    asked: AtomicU64,
    open: tokio::sync::Notify,
}

#[async_trait]
impl Clock for Gate {
    fn now_millis(&self) -> i64 {
        0
    }

    async fn sleep(&self, millis: u64) {
        self.asked.store(millis, Ordering::SeqCst);
        self.sleeps.fetch_add(1, Ordering::SeqCst);
        self.open.notified().await;
    }
}

#[tokio::test]
async fn at_once_or_at_the_interval() {
    let gate = Arc::new(Gate::default());
    let mut case = Case::new("k INT, v STRING", "k", &[("continuous.discovery-interval", "7 s")]).await;
    let env = Env { clock: gate.clone(), ..case.table.env().clone() };
    let reader = Table::new("db.t", "db.db/t", case.table.schema().clone(), env.clone());
    // The writer shares the reader's news, as tables of one catalog do.
    let writer = reader.with_schema(reader.schema().clone());
    let mut stream = reader.changes().open().await.unwrap();
    let stranger = case.table.clone();
    case.table = Table::new("db.t", "db.db/t", stranger.schema().clone(), stranger.env().clone());
    let follow = tokio::spawn(async move {
        let mut found = Vec::new();
        while found.len() < 2 {
            found.extend(next(&mut stream).await.unwrap().unwrap().0);
        }
        found
    });
    while gate.sleeps.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(gate.asked.load(Ordering::SeqCst), 7000);
    // A commit of this process: no sleep has to end.
    let mut own = Case::of(writer);
    own.commit(&["+I(1,a)"]).await;
    while gate.sleeps.load(Ordering::SeqCst) < 2 {
        tokio::task::yield_now().await;
    }
    // One that the reader is not told of: it looks when its sleep ends.
    case.commit(&["+I(2,b)"]).await;
    gate.open.notify_waiters();
    assert_eq!(follow.await.unwrap(), ["+I(1,a)", "+I(2,b)"]);
}

#[tokio::test]
async fn a_reader_that_was_dropped_leaves_nothing_running() {
    let store = storage::open("memory:", &Options::new()).unwrap();
    let schema = schema("k INT, v STRING", "k", &[]).unwrap();
    Schemas::at(Arc::clone(&store), "db.db/t").create(&schema).await.unwrap();
    let table = Table::new("db.t", "db.db/t", schema, Env::system(store).unwrap());
    let mut case = Case::of(table);
    case.commit(&["+I(1,a)"]).await;
    let before = Arc::strong_count(case.table.storage());
    let mut stream = case.table.changes().open().await.unwrap();
    assert_eq!(next(&mut stream).await.unwrap().unwrap().0, ["+I(1,a)"]);
    drop(stream);
    for _ in 0..1000 {
        if Arc::strong_count(case.table.storage()) <= before {
            return;
        }
        tokio::task::yield_now().await;
    }
    panic!("something of the stream is still there");
}
