//! Any expression over partition columns leaves out partitions when a query is planned, and gives the rows that it gives
//! row by row.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BooleanArray};
use arrow::datatypes::DataType;
use datafusion::logical_expr::{ColumnarValue, Volatility, create_udf};
use linn::ErrorKind;
use linn_sql::Session;

use crate::{fails, rows, run, session};

/// The plan of a query.
async fn plan(session: &Session, sql: &str) -> String {
    rows(session, &format!("EXPLAIN {sql}")).await.join("\n")
}

/// `kept/all` partitions of the first scan that says so.
fn partitions(plan: &str) -> &str {
    let (_, rest) = plan.split_once("partitions=").unwrap_or_else(|| panic!("nothing is pruned: {plan}"));
    rest.split_once(" by ").unwrap_or_else(|| panic!("{plan}")).0
}

/// A condition gives the same rows as the same condition over a table without partitions, of so many partitions.
async fn check(session: &Session, condition: &str, expected: &str) {
    let of = |table: &str| format!("SELECT id FROM {table} WHERE {condition} ORDER BY id");
    let plain = rows(session, &of("plain")).await;
    assert_eq!(rows(session, &of("parts")).await, plain, "{condition}");
    assert_eq!(
        rows(session, &format!("SELECT count(*) FROM parts WHERE {condition}")).await,
        [plain.len().to_string()]
    );
    let plan = plan(session, &of("parts")).await;
    assert_eq!(partitions(&plan), expected, "{condition}\n{plan}");
}

async fn dates() -> Session {
    let session = session();
    let columns = "(id INT, v INT, s STRING, day DATE, at TIMESTAMP(3), amount DECIMAL(10, 2))";
    run(&session, &format!("CREATE TABLE plain {columns}")).await;
    run(&session, &format!("CREATE TABLE parts {columns} PARTITIONED BY (s, day, at, amount)")).await;
    let values = "(1, 10, '2024-01-05', DATE '2024-01-05', TIMESTAMP '2024-01-05 01:30:00', 1.50), \
                  (2, 20, '2024-01-20', DATE '2024-01-20', TIMESTAMP '2024-01-20 12:00:00', 2.50), \
                  (3, 30, '2024-02-01', DATE '2024-02-01', TIMESTAMP '2024-02-01 23:59:59.999', 3.00), \
                  (4, 40, NULL, NULL, NULL, NULL), \
                  (5, 50, 'none', DATE '2025-03-01', TIMESTAMP '2025-03-01 00:00:00', -1.25)";
    for table in ["plain", "parts"] {
        run(&session, &format!("INSERT INTO {table} VALUES {values}")).await;
    }
    session
}

#[tokio::test]
async fn whatever_the_expression() {
    let session = dates().await;
    for (condition, expected) in [
        ("date_format(day, 'yyyy-MM') = '2024-01'", "2/5"),
        ("date_format(s, 'yyyyMM') = '202401'", "2/5"),
        ("to_char(at, 'YYYY-MM') IN ('2024-02', '2025-03')", "2/5"),
        ("to_char(at, '%Y') = '2024'", "3/5"),
        ("date_trunc('month', at) = TIMESTAMP '2024-01-01 00:00:00'", "2/5"),
        ("substr(s, 1, 7) = '2024-01'", "2/5"),
        ("substring(s from 6 for 2) = '02'", "1/5"),
        ("cast(day AS STRING) LIKE '%-01'", "2/5"),
        ("year(day) = 2024 AND month(day) = 1", "2/5"),
        ("extract(hour FROM at) >= 12", "2/5"),
        ("amount * 2 > 4", "2/5"),
        ("abs(amount) < 1.3", "1/5"),
        ("CASE WHEN day IS NULL THEN true ELSE amount = 3 END", "2/5"),
        ("coalesce(s, 'x') = 'x'", "1/5"),
        ("upper(s) IS NULL", "1/5"),
        ("NOT (date_format(day, 'yyyy') = '2024')", "1/5"),
        ("day + INTERVAL '1' MONTH > DATE '2024-03-15'", "1/5"),
        ("try_cast(replace(s, '-', '') AS INT) BETWEEN 20240101 AND 20240131", "2/5"),
        ("length(s) = 4 OR date_format(at, 'HH:mm') = '23:59'", "2/5"),
        ("to_date(s, 'yyyy-MM-dd') IS NOT NULL AND s <> 'none'", "3/5"),
    ] {
        if condition.starts_with("to_date") {
            // The text of one partition is no date, which the other condition leaves out.
            let kept = rows(&session, &format!("SELECT id FROM parts WHERE {condition} ORDER BY id")).await;
            assert_eq!(kept, ["1", "2", "3"]);
            continue;
        }
        check(&session, condition, expected).await;
    }
}

#[tokio::test]
async fn other_columns_may_be_anything() {
    let session = dates().await;
    for (condition, expected) in [
        ("(year(day) = 2025 AND v > 45) OR (s LIKE '%20' AND v * 2 = 40)", "2/5"),
        ("year(day) = 2024 AND v + 0 > 15", "3/5"),
        ("NOT (year(day) = 2024 OR v + 0 > 45)", "1/5"),
        ("CASE WHEN year(day) = 2024 THEN v + 0 > 15 ELSE false END", "3/5"),
        ("(month(day) = 1 OR v = 30) AND v + 0 < 25 AND year(day) = 2024", "3/5"),
    ] {
        check(&session, condition, expected).await;
    }
    // Nothing follows for partitions.
    let plan = plan(&session, "SELECT id FROM parts WHERE year(day) = 2025 OR v + 0 = 10").await;
    assert!(!plan.contains("partitions="), "{plan}");
    let found = rows(&session, "SELECT id FROM parts WHERE year(day) = 2025 OR v + 0 = 10 ORDER BY id").await;
    assert_eq!(found, ["1", "5"]);
}

#[tokio::test]
async fn a_count_reads_no_file() {
    let session = dates().await;
    let plan = plan(&session, "SELECT count(*) FROM parts WHERE date_format(day, 'yyyy') = '2024'").await;
    assert!(!plan.contains("LinnScan"), "{plan}");
}

#[tokio::test]
async fn random_numbers_leave_out_nothing() {
    let session = dates().await;
    let plan = plan(&session, "SELECT id FROM parts WHERE amount > random() - 100").await;
    assert!(!plan.contains("partitions="), "{plan}");
    assert!(plan.contains("FilterExec"), "{plan}");
    let now = "SELECT count(*) FROM parts WHERE day < cast(now() AS DATE) AND date_format(now(), 'yyyy') > s";
    assert_eq!(rows(&session, now).await, ["3"]);
}

#[tokio::test]
async fn functions_of_users_are_computed() {
    let session = dates().await;
    let last = |args: &[ColumnarValue]| {
        let arrays = ColumnarValue::values_to_arrays(args)?;
        let days = arrays[0].as_string::<i32>().iter();
        let found: BooleanArray = days.map(|day| day.map(|day| day.ends_with('5'))).collect();
        Ok(ColumnarValue::Array(Arc::new(found) as ArrayRef))
    };
    let of =
        |name: &str, volatility| create_udf(name, vec![DataType::Utf8], DataType::Boolean, volatility, Arc::new(last));
    session.register_function(of("ends_in_five", Volatility::Immutable));
    session.register_function(of("may_end_in_five", Volatility::Volatile));
    let found = plan(&session, "SELECT id FROM parts WHERE ends_in_five(s)").await;
    assert_eq!(partitions(&found), "1/5");
    assert_eq!(rows(&session, "SELECT id FROM parts WHERE ends_in_five(s)").await, ["1"]);
    let found = plan(&session, "SELECT id FROM parts WHERE may_end_in_five(s)").await;
    assert!(!found.contains("partitions="), "{found}");
}

#[tokio::test]
async fn what_fails_on_a_partition_fails_only_where_it_is_read() {
    let session = dates().await;
    let error = fails(&session, "SELECT id FROM parts WHERE cast(s AS DATE) = DATE '2024-01-05'").await;
    assert_eq!(error.kind(), ErrorKind::Invalid, "{error:?}");
    let found = "SELECT id FROM parts WHERE cast(s AS DATE) = DATE '2024-01-05' AND s <> 'none'";
    assert_eq!(rows(&session, found).await, ["1"]);
    let found =
        "SELECT id FROM parts WHERE v < 50 AND (cast(s AS DATE) > DATE '2024-01-31' AND v + 0 > 0 OR v + 1 = 11)";
    assert_eq!(rows(&session, &format!("{found} ORDER BY id")).await, ["1", "3"]);
    run(&session, "ALTER TABLE parts DROP PARTITION (s = 'none')").await;
    let found = "SELECT id FROM parts WHERE cast(s AS DATE) = DATE '2024-01-05'";
    assert_eq!(rows(&session, found).await, ["1"]);
}

#[tokio::test]
async fn joins_leave_out_partitions_while_they_run() {
    let session = dates().await;
    run(&session, "CREATE TABLE months (name STRING, day DATE); INSERT INTO months VALUES ('feb', DATE '2024-02-01')")
        .await;
    let joined = "SELECT id FROM parts p JOIN months m ON p.day = m.day WHERE m.name = 'feb'";
    assert_eq!(rows(&session, joined).await, ["3"]);
    let analyzed = rows(&session, &format!("EXPLAIN ANALYZE {joined}")).await.join("\n");
    assert!(analyzed.contains("splits_pruned=4"), "{analyzed}");
    let latest = "SELECT id FROM parts WHERE day = (SELECT max(day) FROM months)";
    assert_eq!(rows(&session, latest).await, ["3"]);
}

#[tokio::test]
async fn statements_that_write_are_pruned_alike() {
    let session = dates().await;
    run(&session, "UPDATE parts SET v = v + 1 WHERE date_format(day, 'yyyy-MM') = '2024-01'").await;
    assert_eq!(rows(&session, "SELECT v FROM parts ORDER BY id").await, ["11", "21", "30", "40", "50"]);
    run(&session, "DELETE FROM parts WHERE year(day) = 2024 AND month(day) = 2").await;
    run(
        &session,
        "MERGE INTO parts t USING (SELECT 5 AS id) s ON t.id = s.id AND year(t.day) = 2025 WHEN MATCHED THEN DELETE",
    )
    .await;
    assert_eq!(rows(&session, "SELECT id FROM parts ORDER BY id").await, ["1", "2", "4"]);
    let audit = "SELECT id FROM \"parts$audit_log\" WHERE date_format(day, 'yyyyMM') = '202401' ORDER BY id";
    assert_eq!(rows(&session, audit).await, ["1", "2"]);
    let before = "SELECT id FROM parts FOR VERSION AS OF 1 WHERE date_format(day, 'yyyyMM') = '202402'";
    assert_eq!(rows(&session, before).await, ["3"]);
}

#[tokio::test]
async fn conditions_on_changes_may_compute() {
    use arrow::array::{Array, Date32Array, Int32Array, RecordBatch};
    use linn::Identifier;

    let session = dates().await;
    let id = Identifier::new("default", "parts").unwrap();
    let condition = session.condition(&id, "date_format(day, 'yyyy') = '2024' AND v % 20 = 0").await.unwrap();
    let table = session.catalog().table(&id).await.unwrap();
    let fields: Vec<_> = ["day", "v"].iter().map(|name| table.schema().field(name).unwrap().clone()).collect();
    let days: Arc<dyn Array> = Arc::new(Date32Array::from(vec![Some(19_727), Some(19_727), None, Some(20_454)]));
    let values: Arc<dyn Array> = Arc::new(Int32Array::from(vec![20, 21, 20, 20]));
    let batch = RecordBatch::try_from_iter([("day", days), ("v", values)]).unwrap();
    let kept: Vec<bool> = condition.mask(&batch, &fields).unwrap().iter().collect();
    assert_eq!(kept, [true, false, false, false]);
    let refused = session.condition(&id, "v > random()").await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unsupported);
}

#[tokio::test]
async fn names_of_columns_may_be_odd() {
    let session = session();
    run(&session, "CREATE TABLE odd (id INT, \"Part.Key x\" STRING) PARTITIONED BY (\"Part.Key x\")").await;
    run(&session, "INSERT INTO odd VALUES (1, 'a'), (2, 'b'), (3, NULL)").await;
    let query = "SELECT id FROM odd o WHERE upper(o.\"Part.Key x\") = 'B'";
    assert_eq!(rows(&session, query).await, ["2"]);
    let plan = plan(&session, query).await;
    assert_eq!(partitions(&plan), "1/3");
    assert!(!plan.split("partitions=").nth(1).unwrap().contains("Utf8"), "{plan}");
}
