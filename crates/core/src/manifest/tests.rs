//! Manifests and lists that were cut between two blocks are never taken for shorter ones.

use linn_format::ErrorKind;

use crate::commit::Commit;
use crate::fixture::{added, block_on, memory, schema, table};
use crate::seam::Storage;
use crate::table::Table;

/// An Avro file without its blocks: what ends with its header is a whole file of no records.
pub(crate) fn without_blocks(file: &[u8]) -> Vec<u8> {
    let sync = &file[file.len() - 16..];
    let header = file.windows(16).position(|window| window == sync).unwrap() + 16;
    file[..header].to_vec()
}

#[test]
fn a_cut_file_is_corrupt() {
    block_on(async {
        for part in ["/manifest-list-", "/manifest-"] {
            let store = memory();
            let made = table(store.clone(), schema(false, false, &[])).await;
            made.committer("u").commit(Commit::streaming(1, vec![added(&["f1"])])).await.unwrap();
            let is_part = |path: &&String| path.contains(part) && (part.contains("list") == path.contains("-list-"));
            let mut cut = 0;
            for path in store.paths().iter().filter(is_part) {
                let whole = store.read(path, None).await.unwrap();
                // A list of nothing is a whole one.
                if without_blocks(&whole).len() < whole.len() {
                    store.put(path, without_blocks(&whole).into()).await.unwrap();
                    cut += 1;
                }
            }
            assert!(cut > 0);
            let fresh = Table::new("db.t", "db.db/t", made.schema().clone(), made.env().clone());
            let error = fresh.scan().plan().await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{part}: {error}");
            assert!(error.to_string().contains("manifest"), "{error}");
        }
    });
}
