//! Linn's tables in anybody's session of DataFusion.

use datafusion::prelude::SessionContext;
use linn::{Options, Warehouse};

#[expect(unreachable_pub, reason = "an example is a program")]
#[path = "../../examples/datafusion_session.rs"]
mod datafusion_session;

#[test]
fn the_example_runs() {
    datafusion_session::main().unwrap();
}

async fn count(context: &SessionContext, sql: &str) -> usize {
    context.sql(sql).await.unwrap().count().await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn inserts_append_and_overwrite() {
    let warehouse = Warehouse::open("memory:", Options::new()).unwrap();
    let table = warehouse.create("db.t").column("id", "INT").unwrap().column("p", "STRING").unwrap();
    table.partition_by(["p"]).run().await.unwrap();
    let context = SessionContext::new();
    linn_sql::register_linn(&context, "lake", &warehouse).await.unwrap();
    let run = async |sql: &str| context.sql(sql).await.unwrap().collect().await;
    run("INSERT INTO lake.db.t VALUES (1, 'a'), (2, 'a'), (3, 'b')").await.unwrap();
    run("INSERT INTO lake.db.t SELECT id + 10, p FROM lake.db.t").await.unwrap();
    assert_eq!(count(&context, "SELECT * FROM lake.db.t").await, 6);
    // The partitions of the new rows are replaced, others stay.
    run("INSERT OVERWRITE lake.db.t VALUES (9, 'a')").await.unwrap();
    assert_eq!(count(&context, "SELECT * FROM lake.db.t").await, 3);
    // Values that do not fit are refused, and nothing is written.
    let error = run("INSERT INTO lake.db.t VALUES (99999999999, 'a')").await.unwrap_err().to_string();
    assert!(error.contains("99999999999") || error.contains("Int32"), "{error}");
    assert_eq!(count(&context, "SELECT * FROM lake.db.t").await, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn plans_know_the_rows_and_push_filters_down() {
    let warehouse = Warehouse::open("memory:", Options::new()).unwrap();
    warehouse.create("db.t").column("id", "INT").unwrap().run().await.unwrap();
    let context = SessionContext::new();
    linn_sql::register_linn(&context, "lake", &warehouse).await.unwrap();
    context.sql("INSERT INTO lake.db.t VALUES (1), (2), (3)").await.unwrap().collect().await.unwrap();
    let plan =
        context.sql("SELECT id FROM lake.db.t WHERE id > 1").await.unwrap().create_physical_plan().await.unwrap();
    let shown = datafusion::physical_plan::displayable(plan.as_ref()).indent(false).to_string();
    assert!(shown.contains("LinnScan: table=db.t") && shown.contains("filter=id > 1"), "{shown}");
    assert!(!shown.contains("FilterExec"), "{shown}");
    // The number of rows is known without reading them.
    let count = context.sql("SELECT count(*) FROM lake.db.t").await.unwrap().create_physical_plan().await.unwrap();
    let shown = datafusion::physical_plan::displayable(count.as_ref()).indent(false).to_string();
    assert!(!shown.contains("LinnScan") && shown.contains("3 as count"), "{shown}");
}
