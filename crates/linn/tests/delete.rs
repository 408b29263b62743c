//! Deleting rows by a condition.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, RecordBatch};
use linn::{ErrorKind, Options, Result, Warehouse, WarehouseTable, col};

async fn table(options: &[(&str, &str)]) -> Result<WarehouseTable> {
    let builder = Warehouse::open("memory:", Options::new())?.create("t").column("k", "INT")?.column("v", "INT")?;
    let builder = builder.primary_key(["k"]).option("bucket", "1");
    options.iter().fold(builder, |builder, (key, value)| builder.option(key, value)).run().await
}

fn rows(keys: &[i32]) -> Result<RecordBatch> {
    let column = || Arc::new(Int32Array::from(keys.to_vec())) as ArrayRef;
    Ok(RecordBatch::try_from_iter([("k", column()), ("v", column())])?)
}

async fn count(table: &WarehouseTable) -> Result<usize> {
    Ok(table.read().collect().await?.iter().map(RecordBatch::num_rows).sum())
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_of_a_condition_go() -> Result<()> {
    for options in [&[][..], &[("deletion-vectors.enabled", "true")]] {
        let table = table(options).await?;
        table.upsert([rows(&[1, 2, 3])?]).await?;
        assert_eq!(table.delete(col("v").gt(1)).await?, 2);
        assert_eq!(count(&table).await?, 1, "{options:?}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_would_stay_is_refused() -> Result<()> {
    for options in [
        &[("ignore-delete", "true")][..],
        &[("merge-engine", "first-row")],
        &[("merge-engine", "partial-update")],
        &[("merge-engine", "aggregation")],
    ] {
        let table = table(options).await?;
        table.upsert([rows(&[1])?]).await?;
        let error = table.delete(col("k").eq(1)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{options:?}: {error}");
    }
    Ok(())
}
