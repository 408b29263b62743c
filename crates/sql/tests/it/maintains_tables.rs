//! The procedures of maintenance, each with its named arguments and what it leaves.

use std::sync::Arc;

use linn::core::Storage;
use linn::core::seam::ManualClock;
use linn::core::storage::Memory;
use linn::{Env, ErrorKind, FilesystemCatalog, Options};
use linn_sql::Session;

use crate::{fails, rows, run};

/// When these tables live: 2026-01-01.
const NOW: i64 = 1_767_225_600_000;

/// A warehouse whose clock stands still.
struct Place {
    storage: Arc<dyn Storage>,
    clock: Arc<ManualClock>,
}

impl Place {
    /// A session of another process.
    fn session(&self) -> Session {
        let env = Env { clock: self.clock.clone(), ..Env::system(Arc::clone(&self.storage)).unwrap() };
        Session::new(Arc::new(FilesystemCatalog::new(env, Options::new())), "default")
    }

    /// Names of what is in a folder.
    async fn names(&self, folder: &str) -> Vec<String> {
        let entries = self.storage.list(&format!("default.db/{folder}")).await.unwrap();
        entries.into_iter().map(|entry| entry.path.rsplit('/').next().unwrap().to_owned()).collect()
    }
}

fn place() -> (Session, Place) {
    let clock = Arc::new(ManualClock::new(NOW));
    let place = Place { storage: Arc::new(Memory::new(clock.clone())), clock };
    (place.session(), place)
}

/// A table with three snapshots, made with these options.
async fn table(session: &Session, options: &str) {
    let create = format!(
        "CREATE TABLE t (k INT, v STRING, PRIMARY KEY (k) NOT ENFORCED) \
         WITH ('bucket' = '1', 'write-only' = 'true'{options})"
    );
    run(session, &create).await;
    for k in 1..4 {
        run(session, &format!("INSERT INTO t VALUES ({k}, 'v{k}')")).await;
    }
}

/// Two days of an append table.
async fn days(session: &Session) {
    run(session, "CREATE TABLE d (k INT, day STRING, h INT) PARTITIONED BY (day, h)").await;
    run(session, "INSERT INTO d VALUES (1, '2024-01-01', 1), (2, '2024-01-01', 2), (3, '2024-01-02', 1)").await;
}

async fn ids(session: &Session) -> Vec<String> {
    rows(session, "SELECT snapshot_id FROM \"t$snapshots\" ORDER BY 1").await
}

#[tokio::test]
async fn expire_snapshots() {
    let (session, place) = place();
    table(&session, "").await;
    let none = "CALL sys.expire_snapshots(`table` => 't', retain_min => 1)";
    assert_eq!(rows(&session, none).await, ["0"], "all are young");
    assert_eq!(fails(&session, "CALL sys.expire_snapshots('t', retain_max => 1)").await.kind(), ErrorKind::Invalid);
    let old = "CALL sys.expire_snapshots(`table` => 't', retain_min => 1, older_than => '2999-01-01 00:00:00', max_deletes => 1)";
    assert_eq!(rows(&session, old).await, ["1"]);
    assert_eq!(ids(&session).await, ["2", "3"]);
    let options =
        "CALL sys.expire_snapshots('t', options => 'snapshot.num-retained.min=1,snapshot.num-retained.max=1')";
    assert_eq!(rows(&session, options).await, ["1"]);
    assert_eq!(ids(&session).await, ["3"]);
    run(&session, "INSERT INTO t VALUES (4, 'd'); INSERT INTO t VALUES (5, 'e'); CALL sys.create_tag('t', 'four', 4)")
        .await;
    assert_eq!(rows(&session, "CALL sys.expire_snapshots('default.t', 1, 1)").await, ["2"]);
    let left: Vec<String> = place.names("t/snapshot").await.into_iter().filter(|n| n.starts_with("snap")).collect();
    assert_eq!(left, ["snapshot-5"]);
    assert_eq!(rows(&session, "SELECT count(*) FROM t VERSION AS OF 'four'").await, ["4"]);
    assert_eq!(rows(&session, "SELECT count(*) FROM t").await, ["5"]);
    for (wrong, kind) in [
        ("CALL sys.expire_snapshots()", ErrorKind::Invalid),
        ("CALL sys.expire_snapshots('none')", ErrorKind::NotFound),
        ("CALL sys.expire_snapshots('t', retain_max => 'many')", ErrorKind::Invalid),
        ("CALL sys.expire_snapshots('t', retain_min => 0, retain_max => 0)", ErrorKind::Invalid),
        ("CALL sys.expire_snapshots('t', older_than => 'long ago')", ErrorKind::Invalid),
        ("CALL sys.expire_snapshots('t', keep => 1)", ErrorKind::Invalid),
    ] {
        assert_eq!(fails(&session, wrong).await.kind(), kind, "{wrong}");
    }
}

#[tokio::test]
async fn expire_changelogs() {
    let (session, place) = place();
    table(&session, ", 'changelog-producer' = 'input', 'changelog.time-retained' = '10 d'").await;
    run(&session, "INSERT INTO t VALUES (4, 'd'); INSERT INTO t VALUES (5, 'e')").await;
    assert_eq!(rows(&session, "CALL sys.expire_snapshots('t', retain_max => 1, retain_min => 1)").await, ["4"]);
    let kept = async || {
        let names = place.names("t/changelog").await;
        names.into_iter().filter_map(|name| name.strip_prefix("changelog-").map(str::to_owned)).collect::<Vec<_>>()
    };
    assert_eq!(kept().await, ["1", "2", "3", "4"]);
    let call = "CALL sys.expire_changelogs(`table` => 't', retain_max => 4, retain_min => 1, max_deletes => 5)";
    assert_eq!(rows(&session, call).await, ["1"]);
    assert_eq!(kept().await, ["2", "3", "4"]);
    let old = "CALL sys.expire_changelogs(`table` => 't', retain_min => 1, older_than => '2999-01-01 00:00:00', max_deletes => 1)";
    assert_eq!(rows(&session, old).await, ["1"]);
    let all = "CALL sys.expire_changelogs(`table` => 't', delete_all => true)";
    assert_eq!(rows(&session, all).await, ["Delete all separated changelogs success."]);
    assert_eq!(kept().await, Vec::<String>::new());
    assert_eq!(rows(&session, "SELECT count(*) FROM t").await, ["5"]);
    let wrong = "CALL sys.expire_changelogs('t', delete_all => 'perhaps')";
    assert_eq!(fails(&session, wrong).await.kind(), ErrorKind::Invalid);
}

#[tokio::test]
async fn expire_partitions() {
    let (session, _) = place();
    days(&session).await;
    let none = "CALL sys.expire_partitions(`table` => 'd', expiration_time => '36500 d')";
    assert_eq!(rows(&session, none).await, ["No expired partitions."]);
    let one = "CALL sys.expire_partitions(`table` => 'd', expiration_time => '1 d', timestamp_formatter => 'yyyy-MM-dd H', \
               timestamp_pattern => '$day $h', expire_strategy => 'values-time', max_expires => 1)";
    assert_eq!(rows(&session, one).await, ["day=2024-01-01, h=1"]);
    let updated = "CALL sys.expire_partitions('d', '1 d', expire_strategy => 'update-time')";
    assert_eq!(rows(&session, updated).await, ["No expired partitions."]);
    let options = "CALL sys.expire_partitions('d', options => 'partition.expiration-time=1 d')";
    assert_eq!(rows(&session, options).await, ["day=2024-01-01, h=2", "day=2024-01-02, h=1"]);
    assert_eq!(rows(&session, "SELECT count(*) FROM d").await, ["0"]);
    assert_eq!(fails(&session, "CALL sys.expire_partitions('d')").await.kind(), ErrorKind::Invalid);
}

#[tokio::test]
async fn remove_orphan_files() {
    let (session, place) = place();
    table(&session, "").await;
    days(&session).await;
    for path in ["t/bucket-0/data-lost.parquet", "d/manifest/manifest-lost-0"] {
        place.storage.put(&format!("default.db/{path}"), vec![0; 7].into()).await.unwrap();
    }
    // Young files stay, whatever refers to them.
    assert_eq!(rows(&session, "CALL sys.remove_orphan_files('t')").await, ["0", "0"]);
    let future = "CALL sys.remove_orphan_files('t', older_than => '2999-01-01 00:00:00')";
    assert_eq!(fails(&session, future).await.kind(), ErrorKind::Invalid);
    place.clock.advance(2);
    let now = NOW + 1;
    let all = |dry: bool| {
        format!(
            "CALL sys.remove_orphan_files(`table` => 'default.*', older_than => '{now}', dry_run => {dry}, \
             parallelism => 2, mode => 'local')"
        )
    };
    assert_eq!(rows(&session, &all(true)).await, ["2", "14"]);
    assert_eq!(rows(&session, &all(false)).await, ["2", "14"]);
    assert_eq!(rows(&session, &all(false)).await, ["0", "0"]);
    assert!(place.storage.stat("default.db/t/bucket-0/data-lost.parquet").await.is_err());
    assert_eq!(rows(&session, "SELECT count(*) FROM t").await, ["3"]);
    assert_eq!(fails(&session, "CALL sys.remove_orphan_files('t', mode => 'far')").await.kind(), ErrorKind::Invalid);
}

#[tokio::test]
async fn remove_unexisting_files() {
    let (session, place) = place();
    table(&session, "").await;
    let first = rows(&session, "SELECT file_path FROM \"t$files\" WHERE min_sequence_number = 0").await[0].clone();
    let path = format!("default.db/t/bucket-0/{}", first.rsplit('/').next().unwrap());
    place.storage.delete(&path).await.unwrap();
    let dry = "CALL sys.remove_unexisting_files(`table` => 't', dry_run => true, parallelism => 2)";
    assert_eq!(rows(&session, dry).await, std::slice::from_ref(&path));
    assert_eq!(ids(&session).await, ["1", "2", "3"]);
    assert_eq!(rows(&session, "CALL sys.remove_unexisting_files('t')").await, [path]);
    assert_eq!(rows(&session, "CALL sys.remove_unexisting_files('t')").await, Vec::<String>::new());
    assert_eq!(rows(&session, "SELECT count(*) FROM t").await, ["2"]);
}

#[tokio::test]
async fn remove_unexisting_manifests_and_repair_earliest_snapshot() {
    let (session, place) = place();
    table(&session, "").await;
    let gap = "CALL sys.repair_earliest_snapshot(`table` => 't', snapshot_id => 3)";
    assert_eq!(fails(&session, gap).await.kind(), ErrorKind::Invalid, "there is no gap");
    place.storage.delete("default.db/t/snapshot/snapshot-2").await.unwrap();
    assert_eq!(rows(&session, gap).await, ["1|3"]);
    assert_eq!(place.names("t/snapshot").await, ["EARLIEST", "LATEST", "snapshot-1", "snapshot-3"]);
    assert_eq!(&place.storage.read("default.db/t/snapshot/EARLIEST", None).await.unwrap()[..], b"3");
    assert_eq!(fails(&session, "CALL sys.repair_earliest_snapshot('t')").await.kind(), ErrorKind::Invalid);

    assert_eq!(rows(&session, "CALL sys.remove_unexisting_manifests(`table` => 't')").await, ["Success"]);
    assert_eq!(ids(&session).await.len(), 2, "nothing was lost");
    let manifest = rows(&session, "SELECT file_name FROM \"t$manifests\" ORDER BY file_name").await[0].clone();
    place.storage.delete(&format!("default.db/t/manifest/{manifest}")).await.unwrap();
    // As a process that has not read it.
    let session = place.session();
    assert_eq!(rows(&session, "CALL sys.remove_unexisting_manifests(tableId => 'default.t')").await, ["Success"]);
    assert_eq!(rows(&session, "SELECT count(*) FROM t").await, ["2"]);
}

#[tokio::test]
async fn compact_manifest() {
    let (session, _) = place();
    table(&session, "").await;
    let dry = "CALL sys.compact_manifest(`table` => 't', options => 'manifest.target-file-size=1 mb', dry_run => true)";
    let said = rows(&session, dry).await;
    assert!(said[0].starts_with("Dry run: 3 manifest files ("), "{said:?}");
    assert!(said[0].ends_with(" bytes), 0 deleted entries in 0 files, 3 undersized files (< 1 mb)."), "{said:?}");
    assert_eq!(ids(&session).await.len(), 3);
    assert_eq!(rows(&session, "CALL sys.compact_manifest('t')").await, ["success"]);
    assert_eq!(rows(&session, "SELECT count(*) FROM \"t$manifests\"").await, ["1"]);
    assert_eq!(rows(&session, "SELECT count(*) FROM t").await, ["3"]);
    run(&session, "CREATE TABLE e (a INT)").await;
    let empty = "CALL sys.compact_manifest('e', dry_run => true)";
    assert_eq!(rows(&session, empty).await, ["Dry run: no snapshot exists."]);
    let sorted = "CALL sys.compact_manifest('t', manifest_sort_enabled => true)";
    assert_eq!(fails(&session, sorted).await.kind(), ErrorKind::Unsupported);
}

#[tokio::test]
async fn mark_partition_done_and_drop_partition() {
    let (session, place) = place();
    days(&session).await;
    let done = "CALL sys.mark_partition_done(`table` => 'd', partitions => 'day=2024-01-01,h=1;day=2024-01-02,h=1')";
    assert_eq!(rows(&session, done).await, ["Success"]);
    for partition in ["day=2024-01-01/h=1", "day=2024-01-02/h=1"] {
        assert!(place.storage.stat(&format!("default.db/d/{partition}/_SUCCESS")).await.is_ok(), "{partition}");
    }
    assert_eq!(fails(&session, "CALL sys.mark_partition_done('d', 'day=2024-01-01')").await.kind(), ErrorKind::Invalid);
    let drop = "CALL sys.drop_partition(`table` => 'd', partitions => 'day=2024-01-01,h=2;day=2024-01-02')";
    assert_eq!(rows(&session, drop).await, ["Success"]);
    assert_eq!(rows(&session, "SELECT day, h FROM d").await, ["2024-01-01|1"]);
    assert_eq!(fails(&session, "CALL sys.drop_partition('d', 'month=1')").await.kind(), ErrorKind::Invalid);
    assert_eq!(fails(&session, "CALL sys.drop_partition('d')").await.kind(), ErrorKind::Invalid);
}

#[tokio::test]
async fn purge_files() {
    let (session, place) = place();
    table(&session, "").await;
    run(&session, "CALL sys.create_tag('t', 'x'); CALL sys.create_branch('t', 'b')").await;
    assert_eq!(rows(&session, "CALL sys.purge_files(`table` => 't')").await, ["Success"]);
    assert_eq!(rows(&session, "SELECT count(*) FROM t").await, ["0"]);
    assert_eq!(place.names("t/bucket-0").await, Vec::<String>::new());
    assert_eq!(rows(&session, "SELECT * FROM \"t$tags\"").await, Vec::<String>::new());
    run(&session, "INSERT INTO t VALUES (1, 'a')").await;
    assert_eq!(rows(&session, "SELECT k FROM t").await, ["1"]);
}

#[tokio::test]
async fn reset_clear_and_expire_consumers() {
    let (session, place) = place();
    table(&session, "").await;
    let consumers = "SELECT consumer_id, next_snapshot_id FROM \"t$consumers\" ORDER BY 1";
    run(&session, "CALL sys.reset_consumer(`table` => 't', consumer_id => 'a1', next_snapshot_id => 2)").await;
    run(&session, "CALL sys.reset_consumer(`table` => 't', consumerId => 'a2', nextSnapshotId => 3)").await;
    run(&session, "CALL sys.reset_consumer('t', 'b1', 1); CALL sys.reset_consumer('t', 'b1', 3)").await;
    run(&session, "CALL sys.reset_consumer('t', 'c', 1)").await;
    assert_eq!(rows(&session, consumers).await, ["a1|2", "a2|3", "b1|3", "c|1"]);
    let absent = "CALL sys.reset_consumer('t', 'a1', 99)";
    assert_eq!(fails(&session, absent).await.kind(), ErrorKind::NotFound);
    assert_eq!(fails(&session, "CALL sys.reset_consumer('t')").await.kind(), ErrorKind::Invalid);
    // Without a snapshot a consumer is forgotten; one that is not there is forgotten too.
    run(&session, "CALL sys.reset_consumer('t', 'c'); CALL sys.reset_consumer('t', 'nobody')").await;
    let some = "CALL sys.clear_consumers(`table` => 't', including_consumers => 'a.*', excluding_consumers => '.*2')";
    assert_eq!(rows(&session, some).await, ["Success"]);
    assert_eq!(rows(&session, consumers).await, ["a2|3", "b1|3"]);
    run(&session, "CALL sys.clear_consumers('t', excludingConsumers => 'b1')").await;
    assert_eq!(rows(&session, consumers).await, ["b1|3"]);
    assert_eq!(fails(&session, "CALL sys.expire_consumers('t')").await.kind(), ErrorKind::Invalid);
    let old = "CALL sys.expire_consumers('t', older_than => '2000-01-01')";
    assert_eq!(rows(&session, old).await, Vec::<String>::new());
    place.clock.advance(1000);
    let all = "CALL sys.expire_consumers(`table` => 't', older_than => '2026-01-01 00:00:01')";
    assert_eq!(rows(&session, all).await, ["b1"]);
    run(&session, "CALL sys.reset_consumer('t', 'd', 1); CALL sys.clear_consumers('t')").await;
    assert_eq!(rows(&session, consumers).await, Vec::<String>::new());
}
