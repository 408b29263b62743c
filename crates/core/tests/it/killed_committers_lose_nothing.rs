//! Processes that are killed in the middle of commits, then started again under the same users: every commit is there once.

use linn_format::options::Options;

use crate::metadata;
use crate::worker::Worker;

const PROCESSES: usize = 3;
const COMMITS: usize = 20;

#[tokio::test]
async fn on_local_disk() {
    let dir = tempfile::tempdir().unwrap();
    let uri = format!("file:{}", dir.path().join("warehouse").display());
    let table = metadata::table(&uri, &Options::default()).await;
    let start = |i: usize| Worker::start(&uri, &format!("user-{i}"), COMMITS);
    for kill_after in [2, 7, 12] {
        let mut workers: Vec<Worker> = (0..PROCESSES).map(start).collect();
        let mut acknowledged: Vec<String> = (0..kill_after).map(|_| workers[0].next().unwrap()).collect();
        acknowledged.extend(workers.into_iter().flat_map(Worker::kill));
        let files = metadata::files(&table).await;
        for file in acknowledged {
            assert_eq!(files.get(&file), Some(&1), "{file} was acknowledged");
        }
    }
    let workers: Vec<Worker> = (0..PROCESSES).map(start).collect();
    workers.into_iter().for_each(|worker| drop(worker.finish()));
    metadata::check_history(&table, PROCESSES * COMMITS).await;
}
