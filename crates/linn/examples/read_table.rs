//! Reads a table: some columns, a condition, a limit, and the table as it was before.

use std::sync::Arc;

use arrow_array::{ArrayRef, Date32Array, Int64Array, RecordBatch};
use linn::{Options, Result, SnapshotId, Warehouse, col};

fn orders(ids: &[i64], amounts: &[i64], days: &[i32]) -> Result<RecordBatch> {
    let id: ArrayRef = Arc::new(Int64Array::from(ids.to_vec()));
    let amount: ArrayRef = Arc::new(Int64Array::from(amounts.to_vec()));
    let day: ArrayRef = Arc::new(Date32Array::from(days.to_vec()));
    Ok(RecordBatch::try_from_iter([("id", id), ("amount", amount), ("day", day)])?)
}

fn count(batches: &[RecordBatch]) -> usize {
    batches.iter().map(RecordBatch::num_rows).sum()
}

#[tokio::main]
pub async fn main() -> Result<()> {
    let warehouse = Warehouse::open("memory:", Options::new())?;
    let table = warehouse
        .create("shop.orders")
        .column("id", "BIGINT")?
        .column("amount", "BIGINT")?
        .column("day", "DATE")?
        .partition_by(["day"])
        .run()
        .await?;
    table.write().batch(orders(&[1, 2, 3], &[10, 20, 30], &[20_000, 20_000, 20_001])?).commit().await?;
    table.write().batch(orders(&[4], &[40], &[20_002])?).commit().await?;

    // Partitions and files that cannot hold such rows are not read.
    let recent = col("day").gt_eq("2024-10-05").and(col("amount").gt(5));
    let rows = table.read().columns(["id", "amount"]).filter(recent).collect().await?;
    println!("{} orders since then", count(&rows));
    assert_eq!((count(&rows), rows[0].num_columns()), (2, 2));

    let first = table.read().snapshot(SnapshotId(1)).limit(2).collect().await?;
    println!("{} of the first orders", count(&first));
    assert_eq!(count(&first), 2);
    Ok(())
}
