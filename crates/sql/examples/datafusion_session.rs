//! Linn's tables in a session of DataFusion, beside other tables: read, joined and written by its SQL.

use std::error::Error;

use datafusion::prelude::SessionContext;
use linn::{Options, Warehouse};
use linn_sql::register_linn;

#[tokio::main]
pub async fn main() -> Result<(), Box<dyn Error>> {
    let warehouse = Warehouse::open("memory:", Options::new())?;
    let orders = warehouse.create("shop.orders").column("id", "BIGINT")?.column("city", "STRING")?;
    orders.primary_key(["id"]).option("bucket", "2").run().await?;

    let context = SessionContext::new();
    register_linn(&context, "lake", &warehouse).await?;
    context.sql("CREATE TABLE cities AS VALUES ('Paris', 'France'), ('Rome', 'Italy')").await?.collect().await?;
    let insert = "INSERT INTO lake.shop.orders VALUES (1, 'Paris'), (2, 'Rome'), (3, 'Paris')";
    context.sql(insert).await?.collect().await?;
    // The last row of a key wins.
    context.sql("INSERT INTO lake.shop.orders VALUES (3, 'Rome')").await?.collect().await?;

    let join = "SELECT column2 AS country, count(*) AS orders FROM lake.shop.orders JOIN cities ON city = column1 \
                GROUP BY country ORDER BY country";
    let rows = context.sql(join).await?;
    rows.clone().show().await?;
    assert_eq!(rows.count().await?, 2);
    let italian = context.sql("SELECT * FROM lake.shop.orders WHERE city = 'Rome' AND id > 1").await?;
    assert_eq!(italian.count().await?, 2);
    let commits = context.sql("SELECT * FROM lake.shop.\"orders$snapshots\"").await?;
    assert_eq!(commits.count().await?, 2);
    Ok(())
}
