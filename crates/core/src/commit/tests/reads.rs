//! What is read of a table's metadata: each immutable file once in a process that writes and reads.

use linn_format::ErrorKind;

use super::*;
use crate::storage::{Fault, Faulty, Op};

#[tokio::test]
async fn scans_and_commits_share_what_they_have_read() {
    let inner = memory();
    let store = Faulty::new(inner.clone());
    let gone = |path: &str| store.inject(Op::Read, path, 0, usize::MAX, Fault::Before(ErrorKind::Unavailable));
    // Lists are kept when they are written: nobody has to read them.
    gone("manifest/manifest-list-");
    let options = [("bucket", "1"), ("manifest.merge-min-count", "100")];
    let table = table(Arc::new(store.clone()), schema(false, true, &options)).await;
    let (mut snapshots, mut last) = (0, None);
    for i in 1..=5 {
        let mut message = CommitMessage::new(BinaryRow::empty(), 0, 1);
        let added = file(&format!("f{i}"), 0, Some((i, i)));
        message.new_files.push(Arc::clone(&added));
        // Removing the last file makes the commit look what is there.
        if let Some(last) = last.replace(added) {
            message.compact_before.push(last);
            message.compact_after.push(file(&format!("c{i}"), 5, Some((i - 1, i - 1))));
        }
        let outcome = table.committer("u").commit(Commit::streaming(i.into(), vec![message])).await.unwrap();
        assert!(matches!(outcome, CommitOutcome::Committed(ids) if !ids.is_empty()));
        let planned: usize = table.scan().plan().await.unwrap().splits.iter().map(|split| split.files.len()).sum();
        assert_eq!(planned, usize::try_from(i).unwrap());
        // What the plan has read, neither the next commit nor the next plan reads again.
        inner.paths().iter().filter(|path| path.contains("manifest/manifest-")).for_each(|path| gone(path));
        snapshots += 1;
    }
    assert!(latest(&table).await.id.0 > snapshots, "no commit removed a file");
}
