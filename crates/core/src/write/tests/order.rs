//! Two writers of one bucket at once, without a `sequence.field`: which of their rows is the newest.

use std::collections::BTreeMap;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use futures::TryStreamExt;

use super::block_on;
use crate::commit::{Commit, CommitOutcome};
use crate::fixture::{keyed_rows, memory, schema, table};
use crate::table::Table;
use crate::write::TableWriter;

async fn write(writer: &mut TableWriter, table: &Table, user: &str, keys: &[i32]) {
    writer.write(&keyed_rows(keys, user), None).await.unwrap();
    let messages = writer.prepare_commit(false).await.unwrap();
    let outcome = table.committer(user).commit(Commit::batch(messages)).await.unwrap();
    assert!(matches!(outcome, CommitOutcome::Committed(_)), "{outcome:?}");
}

/// Values by key, of what is read before and after a full compaction, which must be the same.
async fn read(table: &Table) -> BTreeMap<i32, String> {
    let rows = async || {
        let mut rows = BTreeMap::new();
        let read = table.read().build().unwrap();
        for split in table.scan().plan().await.unwrap().splits {
            for batch in read.stream(&split).await.unwrap().try_collect::<Vec<_>>().await.unwrap() {
                let (k, v) = (batch.column(1).as_primitive::<Int32Type>(), batch.column(2).as_string::<i32>());
                rows.extend((0..batch.num_rows()).map(|i| (k.value(i), v.value(i).to_owned())));
            }
        }
        rows
    };
    let before = rows().await;
    for full in [false, true] {
        let messages = table.compact(None, full).await.unwrap();
        table.committer("compactor").commit(Commit::batch(messages)).await.unwrap();
        assert_eq!(rows().await, before, "a compaction changes no row");
    }
    before
}

/// Two writers open an empty bucket; `ahead` has numbered further when it commits, and `late` commits after it.
async fn two(options: &[(&str, &str)]) -> BTreeMap<i32, String> {
    let options = [&[("bucket", "1"), ("write-only", "true")], options].concat();
    let table = table(memory(), schema(true, true, &options)).await;
    let (mut ahead, mut late) = (table.writer("ahead").unwrap(), table.writer("late").unwrap());
    // Both have the bucket open before the other commits.
    late.write(&keyed_rows(&[1], "late"), None).await.unwrap();
    write(&mut ahead, &table, "ahead", &[3, 5, 7, 9, 1]).await;
    write(&mut late, &table, "late", &[]).await;
    ahead.close().await.unwrap();
    late.close().await.unwrap();
    let compacting = table.with_options(&[("write-only", "false")].into_iter().collect()).unwrap();
    read(&compacting).await
}

#[test]
fn the_later_commit_wins_where_snapshots_order_rows() {
    block_on(async {
        assert_eq!(two(&[("sequence.snapshot-ordering", "true")]).await[&1], "late1");
    });
}

#[test]
fn else_the_writer_wins_that_has_numbered_further() {
    block_on(async {
        assert_eq!(two(&[]).await[&1], "ahead1");
    });
}
