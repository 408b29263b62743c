//! How often a writer looks at the table to go on with its buckets (cases: P1).

use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, RecordBatch, StringArray};
use linn_format::ErrorKind;

use super::block_on;
use crate::commit::{Commit, CommitOutcome};
use crate::fixture::{memory, schema, table};
use crate::storage::{Fault, Faulty, Op};

fn batch(partitions: i32) -> RecordBatch {
    let rows = (0..partitions).flat_map(|p| (0..20).map(move |k| (p, k)));
    let (p, k): (Vec<i32>, Vec<i32>) = rows.unzip();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("p", Arc::new(Int32Array::from(p.clone()))),
        ("k", Arc::new(Int32Array::from(k))),
        ("v", Arc::new(StringArray::from(vec!["x"; p.len()]))),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

#[test]
fn p1_many_partitions_cost_one_look() {
    block_on(async {
        let inner = memory();
        let options = [("bucket", "4"), ("write-only", "true")];
        for round in 1..=3 {
            let store = Faulty::new(inner.clone());
            let mut writer = table(Arc::new(store.clone()), schema(true, true, &options)).await.writer("job").unwrap();
            // The table may be asked once for its latest snapshot.
            store.inject(Op::Read, "snapshot/LATEST", 1, usize::MAX, Fault::Before(ErrorKind::Unavailable));
            store.inject(Op::List, "snapshot", 1, usize::MAX, Fault::Before(ErrorKind::Unavailable));
            writer.write(&batch(50), None).await.unwrap();
            let messages = writer.prepare_commit(true).await.unwrap();
            assert_eq!(messages.len(), 200);
            let sequences = messages.iter().flat_map(|m| &m.new_files).map(|f| f.min_sequence_number);
            assert!(sequences.into_iter().all(|first| (first == 0) == (round == 1)), "sequence numbers do not go on");
            let table = table(inner.clone(), schema(true, true, &options)).await;
            let outcome = table.committer("job").commit(Commit::streaming(round, messages)).await.unwrap();
            assert!(matches!(outcome, CommitOutcome::Committed(_)));
        }
    });
}
