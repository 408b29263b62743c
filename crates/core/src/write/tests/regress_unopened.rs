//! Rows whose bucket cannot be opened for want of the store are written once it is there again (found by the simulator).

use std::sync::Arc;

use linn_format::ErrorKind;

use super::block_on;
use crate::commit::{Commit, CommitOutcome};
use crate::fixture::{keyed_rows, memory, schema, table};
use crate::read;
use crate::storage::{Fault, Faulty, Op};
use crate::table::Table;
use crate::write::TableWriter;

async fn commit(table: &Table, writer: &mut TableWriter, identifier: i64) {
    let messages = writer.prepare_commit(true).await.unwrap();
    let outcome = table.committer("u").commit(Commit::streaming(identifier, messages)).await.unwrap();
    assert!(matches!(outcome, CommitOutcome::Committed(_)), "{outcome:?}");
}

async fn rows(table: &Table) -> usize {
    let reading = table.read().build().unwrap();
    let mut rows = 0;
    for split in table.scan().plan().await.unwrap().splits {
        let batches = read::collect(reading.stream(&split).await.unwrap()).await.unwrap();
        rows += batches.iter().map(arrow_array::RecordBatch::num_rows).sum::<usize>();
    }
    rows
}

#[test]
fn rows_of_buckets_that_cannot_be_opened_are_not_lost() {
    block_on(async {
        for keyed in [true, false] {
            let store = Faulty::new(memory());
            let options = [("bucket", "1"), ("write-only", "true"), ("bucket-key", "k")];
            let options = if keyed { &options[..2] } else { &options[..] };
            let table = table(Arc::new(store.clone()), schema(true, keyed, options)).await;
            let mut writer = table.writer("u").unwrap();
            writer.write(&keyed_rows(&[1, 2], "a"), None).await.unwrap();
            commit(&table, &mut writer, 1).await;
            for (identifier, op) in [(2, Op::Read), (3, Op::Stat)] {
                let mut writer = table.writer("u").unwrap();
                let first = i32::try_from(identifier).unwrap() * 10;
                store.inject(op, "snapshot", 0, 1, Fault::Before(ErrorKind::Unavailable));
                let written = writer.write(&keyed_rows(&[first, first + 1, first + 2], "b"), None).await;
                if let Err(e) = written {
                    assert_eq!(e.kind(), ErrorKind::Unavailable, "{e}");
                }
                writer.write(&keyed_rows(&[first + 3], "b"), None).await.unwrap();
                commit(&table, &mut writer, identifier).await;
            }
            assert_eq!(rows(&table).await, 10, "keyed: {keyed}");
        }
    });
}
