//! Messages of a writer that placed waiting rows, as messages of a compaction: placing changes no row (spec: format.md C.17).

use std::collections::HashSet;
use std::sync::Arc;

use linn_format::file::DataFileMeta;

use crate::commit::CommitMessage;

/// A message of a compaction, and files that were made on the way and are in no snapshot.
#[derive(Debug)]
pub(super) struct Folded {
    pub(super) message: CommitMessage,
    pub(super) dropped: Vec<Arc<DataFileMeta>>,
}

/// New files become results of the compaction; those that were compacted again at once vanish.
pub(super) fn fold(message: CommitMessage) -> Folded {
    let mut folded = CommitMessage::new(message.partition, message.bucket, message.total_buckets);
    let is = |file: &DataFileMeta, other: &DataFileMeta| file.file_name == other.file_name && file.level == other.level;
    let gone = |file: &DataFileMeta| message.compact_before.iter().any(|before| is(before, file));
    let made: HashSet<&str> = message.new_files.iter().map(|file| file.file_name.as_str()).collect();
    let kept = message.new_files.iter().filter(|file| !gone(file));
    folded.compact_after = kept.chain(&message.compact_after).cloned().collect();
    folded.compact_before =
        message.compact_before.iter().filter(|file| !made.contains(file.file_name.as_str())).cloned().collect();
    let names: HashSet<&str> = folded.compact_after.iter().map(|file| file.file_name.as_str()).collect();
    let dropped = message.new_files.iter().filter(|file| !names.contains(file.file_name.as_str())).cloned().collect();
    folded.compact_changelog = message.changelog_files.iter().chain(&message.compact_changelog).cloned().collect();
    folded.compact_index_changes =
        message.index_changes.iter().chain(&message.compact_index_changes).cloned().collect();
    folded.compact_basis = message.compact_basis;
    Folded { message: folded, dropped }
}

#[cfg(test)]
mod tests {
    use super::fold;
    use crate::commit::CommitMessage;
    use crate::fixture::{file, row};

    #[test]
    fn files_made_on_the_way_vanish() {
        let mut message = CommitMessage::new(row(&[]), 0, 2);
        message.new_files = vec![file("rewritten", 0, None), file("kept", 0, None), file("moved", 0, None)];
        message.compact_before = vec![file("rewritten", 0, None), file("old", 5, None), file("moved", 0, None)];
        message.compact_after = vec![file("result", 5, None), file("moved", 4, None)];
        let folded = fold(message);
        let names = |files: &[std::sync::Arc<linn_format::file::DataFileMeta>]| {
            files.iter().map(|f| (f.file_name.clone(), f.level)).collect::<Vec<_>>()
        };
        let all = |pairs: &[(&str, i32)]| pairs.iter().map(|(n, l)| ((*n).to_owned(), *l)).collect::<Vec<_>>();
        assert_eq!(names(&folded.message.compact_before), all(&[("old", 5)]));
        assert_eq!(names(&folded.message.compact_after), all(&[("kept", 0), ("result", 5), ("moved", 4)]));
        assert_eq!(names(&folded.dropped), all(&[("rewritten", 0)]));
        assert!(folded.message.new_files.is_empty());
    }
}
