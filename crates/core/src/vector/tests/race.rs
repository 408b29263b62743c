//! Two jobs change one bucket at the same time.

use super::*;

async fn filled() -> Table {
    let table = table(true, &[("bucket", "1")]).await;
    write(&table, &(0..200).map(|k| ((k, 0, Some(0), None), 0)).collect::<Vec<_>>()).await;
    table
}

/// Rows ready to be committed.
async fn prepared(table: &Table, rows: &[(Row, i8)]) -> Vec<CommitMessage> {
    let mut writer = table.writer("other").unwrap();
    let (batch, kinds) = batch(rows);
    writer.write(&batch, Some(&kinds)).await.unwrap();
    writer.prepare_commit(false).await.unwrap()
}

fn update(keys: std::ops::Range<i32>, value: i32) -> Vec<(Row, i8)> {
    keys.map(|k| ((k, 0, Some(value), None), 0)).collect()
}

fn delete(keys: std::ops::Range<i32>) -> Vec<(Row, i8)> {
    keys.map(|k| ((k, 0, None, None), 3)).collect()
}

/// The second of two changes loses its compaction only; compacting again shows its rows too.
async fn second_loses(first: &[(Row, i8)], second: &[(Row, i8)]) -> Vec<Row> {
    let table = filled().await;
    let (first, second) = (prepared(&table, first).await, prepared(&table, second).await);
    commit(&table, first).await;
    let seen = read(&table).await;
    let outcome = try_commit(&table, second).await;
    assert!(matches!(outcome, CommitOutcome::CompactionLost { .. }), "{outcome:?}");
    assert_eq!(read(&table).await, seen, "the lost compaction changed nothing");
    commit(&table, table.compact(None, false).await.unwrap()).await;
    vectors(&table).await;
    read(&table).await
}

fn value_of(rows: &[Row], key: i32) -> Option<i32> {
    rows.iter().find(|row| row.0 == key).and_then(|row| row.2)
}

#[test]
fn regress_two_writers_do_not_lose_each_others_marks() {
    block_on(async {
        let rows = second_loses(&update(0..5, 1), &update(10..15, 2)).await;
        assert_eq!(rows.len(), 200);
        assert_eq!((value_of(&rows, 3), value_of(&rows, 12), value_of(&rows, 50)), (Some(1), Some(2), Some(0)));
    });
}

/// Case D10: a key deleted by one job does not come back by the compaction of another.
#[test]
fn regress_a_deleted_key_stays_deleted() {
    block_on(async {
        let rows = second_loses(&delete(0..5), &update(10..15, 2)).await;
        assert_eq!(rows.len(), 195);
        assert_eq!(value_of(&rows, 12), Some(2));
        let rows = second_loses(&update(10..15, 2), &delete(0..5)).await;
        assert_eq!(rows.len(), 195);
    });
}

#[test]
fn regress_a_key_added_twice_at_once_is_there_once() {
    block_on(async {
        let rows = second_loses(&update(300..303, 1), &update(300..303, 2)).await;
        assert_eq!(rows.len(), 203);
    });
}

#[test]
fn a_complete_compaction_that_missed_a_mark_is_lost() {
    block_on(async {
        let table = filled().await;
        write(&table, &update(0..3, 1)).await;
        let compaction = table.compact(None, true).await.unwrap();
        write(&table, &delete(50..60)).await;
        let outcome = try_commit(&table, compaction).await;
        assert!(matches!(outcome, CommitOutcome::CompactionLost { .. }), "{outcome:?}");
        assert_eq!(read(&table).await.len(), 190);
        commit(&table, table.compact(None, true).await.unwrap()).await;
        assert_eq!(read(&table).await.len(), 190);
    });
}

#[test]
fn a_mark_in_a_file_that_was_compacted_away_is_lost() {
    block_on(async {
        let table = filled().await;
        write(&table, &update(0..3, 1)).await;
        let deletion = prepared(&table, &delete(50..60)).await;
        commit(&table, table.compact(None, true).await.unwrap()).await;
        let outcome = try_commit(&table, deletion).await;
        assert!(matches!(outcome, CommitOutcome::CompactionLost { .. }), "{outcome:?}");
        vectors(&table).await;
        commit(&table, table.compact(None, false).await.unwrap()).await;
        assert_eq!(read(&table).await.len(), 190);
    });
}

#[test]
fn a_damaged_index_file_is_corrupt() {
    block_on(async {
        let table = filled().await;
        write(&table, &delete(0..3)).await;
        let line = vector_lines(&table, &*latest(&table).await).await.unwrap().remove(0);
        let path = table.index_file_path(&line).unwrap();
        let mut bytes = table.storage().read(&path, None).await.unwrap().to_vec();
        let last = bytes.len() - 6;
        bytes[last] ^= 1;
        table.storage().delete(&path).await.unwrap();
        table.storage().put(&path, bytes.into()).await.unwrap();
        let error = read_at(&table, None).await.unwrap_err();
        assert_eq!(error.kind(), linn_format::ErrorKind::Corrupt);
        assert!(error.to_string().contains(&path), "{error}");
        let mut writer = table.writer("test").unwrap();
        let (batch, kinds) = batch(&delete(5..6));
        let error = writer.write(&batch, Some(&kinds)).await.unwrap_err();
        assert_eq!(error.kind(), linn_format::ErrorKind::Corrupt);
    });
}
