//! Compacts a table and expires its old snapshots, as a job beside writers that do not compact.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use linn::core::Snapshots;
use linn::{Compaction, Options, Result, Warehouse};

#[tokio::main]
pub async fn main() -> Result<()> {
    let warehouse = Warehouse::open("memory:", Options::new())?;
    let builder = warehouse.create("events").column("id", "BIGINT")?.primary_key(["id"]);
    let builder = builder.option("bucket", "1").option("write-only", "true");
    let builder = builder.option("snapshot.num-retained.min", "1").option("snapshot.num-retained.max", "2");
    let table = builder.run().await?;
    for id in 0..5 {
        let ids: ArrayRef = Arc::new(Int64Array::from(vec![id, id + 1]));
        table.upsert([RecordBatch::try_from_iter([("id", ids)])?]).await?;
    }
    let files = |splits: &[linn::Split]| splits.iter().map(|split| split.files.len()).sum::<usize>();
    let before = files(&table.core().scan().plan().await?.splits);
    table.compact(Compaction::Full).await?;
    let after = files(&table.core().scan().plan().await?.splits);
    println!("{before} files became {after}");
    assert_eq!((before, after), (5, 1));

    let expired = table.expire().await?;
    let kept = Snapshots::new(table.core()).list().await?.len();
    println!("{expired} snapshots expired, {kept} are kept");
    assert_eq!((expired, kept), (4, 2));
    Ok(())
}
