//! UPDATE, DELETE, MERGE and INSERT of what was read from the same table, beside one another: none loses what another did.

use linn_sql::{Output, Session};

use super::{rows, run, session, sessions};

/// Two sessions that each run a statement so many times, at once.
async fn both(a: &Session, b: &Session, times: usize, first: &str, second: &str) {
    let again = async |session: &Session, sql: &str| {
        for _ in 0..times {
            session.execute(sql).await.unwrap_or_else(|e| panic!("{sql}: {e:?}"));
        }
    };
    futures::join!(again(a, first), again(b, second));
}

/// Kinds of tables of `id`, `v` and `p`, whose rows can be updated.
const TABLES: [&str; 9] = [
    "PRIMARY KEY (id)) WITH ('bucket' = '1'",
    "PRIMARY KEY (id)) WITH ('bucket' = '1', 'deletion-vectors.enabled' = 'true'",
    "PRIMARY KEY (id)) WITH ('bucket' = '1', 'deletion-vectors.enabled' = 'true', 'write-only' = 'true'",
    "PRIMARY KEY (id)) WITH ('bucket' = '1', 'changelog-producer' = 'lookup'",
    "PRIMARY KEY (id)) WITH ('bucket' = '-1'",
    "PRIMARY KEY (id)) WITH ('bucket' = '-2'",
    "PRIMARY KEY (id, p)) PARTITIONED BY (p) WITH ('bucket' = '2'",
    "x INT) WITH ('bucket' = '-1'",
    "x INT) PARTITIONED BY (p) WITH ('bucket' = '-1', 'deletion-vectors.enabled' = 'true'",
];

/// The table with the rows that wait for a compaction.
const ALL: &str = "t OPTIONS ('deletion-vectors.merge-on-read' = 'true')";

async fn table(session: &Session, rest: &str) {
    run(
        session,
        &format!("CREATE TABLE t (id INT NOT NULL, v INT, p INT NOT NULL, {rest}, 'commit.max-retries' = '1000')"),
    )
    .await;
    run(session, "INSERT INTO t (id, v, p) VALUES (1, 0, 1), (2, 0, 1)").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_increment_is_lost() {
    for rest in TABLES {
        let [a, b] = sessions();
        table(&a, rest).await;
        both(&a, &b, 5, "UPDATE t SET v = v + 1 WHERE id = 1", "UPDATE t SET v = v + 1 WHERE id >= 1").await;
        assert_eq!(rows(&a, &format!("SELECT id, v FROM {ALL} ORDER BY id")).await, ["1|10", "2|5"], "{rest}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_update_beside_an_overwrite_from_the_table_itself_is_not_lost() {
    for rest in TABLES {
        let [a, b] = sessions();
        table(&a, rest).await;
        let columns = if rest.starts_with('x') { "id, v + 100, p, x" } else { "id, v + 100, p" };
        let overwrite = format!("INSERT OVERWRITE t SELECT {columns} FROM t");
        both(&a, &b, 3, "UPDATE t SET v = v + 1", &overwrite).await;
        assert_eq!(rows(&a, &format!("SELECT id, v FROM {ALL} ORDER BY id")).await, ["1|303", "2|303"], "{rest}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_that_two_merges_lack_is_inserted_once() {
    for rest in TABLES {
        let [a, b] = sessions();
        table(&a, rest).await;
        let merge = "MERGE INTO t USING (SELECT 7 AS k) AS s ON t.id = s.k WHEN MATCHED THEN UPDATE SET v = v + 1 \
                     WHEN NOT MATCHED THEN INSERT (id, v, p) VALUES (s.k, 1, 1)";
        both(&a, &b, 2, merge, merge).await;
        assert_eq!(rows(&a, &format!("SELECT id, v FROM {ALL} WHERE id = 7")).await, ["7|4"], "{rest}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_insert_of_what_was_counted_and_a_delete_are_as_if_one_came_after_the_other() {
    let [a, b] = sessions();
    table(&a, TABLES[0]).await;
    let insert = "INSERT INTO t SELECT max(id) + 1, 1, 1 FROM t";
    both(&a, &b, 4, insert, insert).await;
    assert_eq!(rows(&a, "SELECT count(*), max(id) FROM t").await, ["10|10"]);
    both(&a, &b, 3, "DELETE FROM t WHERE id = (SELECT max(id) FROM t)", "UPDATE t SET v = v + 1 WHERE id = 1").await;
    assert_eq!(rows(&a, "SELECT count(*), max(v) FROM t").await, ["7|3"]);
}

#[tokio::test]
async fn a_statement_that_never_comes_first_says_so() {
    let session = session();
    table(&session, TABLES[0]).await;
    let handle = session.catalog().table(&linn::Identifier::new("default", "t").unwrap()).await.unwrap();
    let reads = linn::core::commit::Reads::default();
    let noting = handle.noting(&reads).unwrap();
    noting.scan().plan().await.unwrap();
    run(&session, "UPDATE t SET v = 5").await;
    let mut writer = noting.writer("late").unwrap();
    let Output::Rows { stream, .. } = session.execute("SELECT id, v, p FROM t").await.unwrap() else { panic!() };
    for batch in futures::TryStreamExt::try_collect::<Vec<_>>(stream).await.unwrap() {
        writer.write(&batch, None).await.unwrap();
    }
    let messages = writer.prepare_commit(true).await.unwrap();
    let outcome = noting.committer("late").commit(linn::core::Commit::batch(messages)).await.unwrap();
    let linn::core::CommitOutcome::Conflict(why) = outcome else { panic!("{outcome:?}") };
    assert!(why.contains("changed what was read"), "{why}");
    assert!(reads.is_lost());
    assert!(reads.wait(1).await.unwrap());
    assert!(!reads.wait(1001).await.unwrap());
}
