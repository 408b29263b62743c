//! The promise that everything rests on: processes that commit at once to one table on local disk lose nothing, double
//! nothing, and leave no gap.

use linn_format::options::Options;

use crate::metadata;
use crate::worker::Worker;

const PROCESSES: usize = 6;
const COMMITS: usize = 15;

#[tokio::test]
async fn on_local_disk() {
    let dir = tempfile::tempdir().unwrap();
    let uri = format!("file:{}", dir.path().join("warehouse").display());
    let table = metadata::table(&uri, &Options::default()).await;
    let workers: Vec<Worker> = (0..PROCESSES).map(|i| Worker::start(&uri, &format!("user-{i}"), COMMITS)).collect();
    let acknowledged: Vec<String> = workers.into_iter().flat_map(Worker::finish).collect();
    assert_eq!(acknowledged.len(), PROCESSES * COMMITS);
    let files = metadata::files(&table).await;
    assert!(acknowledged.iter().all(|file| files.get(file) == Some(&1)), "{files:?}");
    metadata::check_history(&table, PROCESSES * COMMITS).await;
}
