//! Shapes and errors; the rows are compared with the reference's in the testkit's interop tests.

use linn_format::ErrorKind;

use super::{NAMES, WAITING, read};
use crate::commit::Commit;
use crate::fixture::{added, memory, schema, table};

#[tokio::test]
async fn an_empty_table_has_every_system_table() {
    let table = table(memory(), schema(true, true, &[("bucket", "2")])).await;
    for name in NAMES {
        let rows = read(&table, name).await.unwrap();
        let count: usize = rows.batches.iter().map(|b| b.num_rows()).sum();
        // A new table has one schema with one option.
        assert_eq!(count, usize::from(matches!(name, "schemas" | "options")), "{name}");
        assert!(rows.batches.iter().all(|b| b.schema() == rows.schema));
    }
}

#[tokio::test]
async fn other_names_are_refused() {
    let table = table(memory(), schema(false, false, &[("bucket", "-1")])).await;
    for name in WAITING {
        assert_eq!(read(&table, name).await.unwrap_err().kind(), ErrorKind::Unsupported);
    }
    let error = read(&table, "fils").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(format!("{error:?}{error}").contains("file_key_ranges"), "{error}");
}

#[tokio::test]
async fn files_travel_in_time() {
    let table = table(memory(), schema(false, false, &[("bucket", "-1")])).await;
    for (identifier, name) in [(1, "a.parquet"), (2, "b.parquet")] {
        table.committer("u").commit(Commit::streaming(identifier, vec![added(&[name])])).await.unwrap();
    }
    let count = |rows: super::SystemRows| rows.batches.iter().map(|b| b.num_rows()).sum::<usize>();
    assert_eq!(count(read(&table, "files").await.unwrap()), 2);
    let first = table.with_options(&[("scan.snapshot-id", "1")].into_iter().collect()).unwrap();
    assert_eq!(count(read(&first, "files").await.unwrap()), 1);
    assert_eq!(count(read(&first, "manifests").await.unwrap()), 1);
}
