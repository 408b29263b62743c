//! Follows the changes of a table, and goes on from where it stopped.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int8Type;
use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use futures::TryStreamExt;
use linn::core::stream::Position;
use linn::format::types::RowKind;
use linn::{Options, Result, Warehouse, WarehouseTable, col};

fn batch(key: i64, value: i64) -> Result<RecordBatch> {
    let of = |value| Arc::new(Int64Array::from(vec![value])) as ArrayRef;
    Ok(RecordBatch::try_from_iter([("k", of(key)), ("v", of(value))])?)
}

/// The kinds of the changes behind a position, and the position behind them.
async fn changes(table: &WarehouseTable, position: Option<Position>) -> Result<(Vec<String>, Option<Position>)> {
    let mut tail = table.tail().columns(["k", "v"]).until_now();
    let (mut kinds, mut last) = (Vec::new(), position.clone());
    if let Some(position) = position {
        tail = tail.position(position);
    }
    let mut stream = tail.stream().await?;
    while let Some(changes) = stream.try_next().await? {
        if let Some(column) = changes.rows.columns().last() {
            for kind in column.as_primitive::<Int8Type>().values() {
                kinds.push(RowKind::from_byte(*kind as u8)?.short().to_owned());
            }
        }
        // A sink keeps this together with the rows.
        last = Some(changes.position);
    }
    Ok((kinds, last))
}

#[tokio::main]
pub async fn main() -> Result<()> {
    let warehouse = Warehouse::open("memory:", Options::new())?;
    let builder = warehouse.create("t").column("k", "BIGINT")?.column("v", "BIGINT")?.primary_key(["k"]);
    let table = builder.option("bucket", "1").option("changelog-producer", "lookup").run().await?;
    table.upsert([batch(1, 10)?]).await?;
    let (kinds, position) = changes(&table, None).await?;
    assert_eq!(kinds, ["+I"]);
    table.upsert([batch(1, 11)?]).await?;
    table.delete(col("k").eq(1)).await?;
    let (kinds, _) = changes(&table, position).await?;
    println!("{kinds:?}");
    assert_eq!(kinds, ["-U", "+U", "-D"]);
    Ok(())
}
