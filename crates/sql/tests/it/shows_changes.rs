//! The logs of a table, and what changed between two points, by options and by functions.

use linn::ErrorKind;
use linn::Identifier;
use linn::format::datum::Datum;
use linn::format::predicate::{CompareOp, Predicate};

use crate::{fails, rows, run, session};

const CHANGES: &str = "CREATE TABLE t (k INT, v INT, PRIMARY KEY (k) NOT ENFORCED) \
     WITH ('bucket' = '1', 'changelog-producer' = 'lookup'); \
     INSERT INTO t VALUES (1, 1), (2, 1); INSERT INTO t VALUES (2, 2); DELETE FROM t WHERE k = 1";

#[tokio::test(flavor = "multi_thread")]
async fn the_logs_say_what_happened() {
    let s = session();
    run(&s, CHANGES).await;
    let all = "OPTIONS('incremental-between' = '0,6')";
    let audit = format!("SELECT * FROM t$audit_log /*+ {all} */ ORDER BY k, v, rowkind");
    assert_eq!(rows(&s, &audit).await, ["+I|1|1", "-D|1|1", "+I|2|1", "-U|2|1", "+U|2|2"]);
    let filtered = format!("SELECT v, rowkind FROM t$audit_log {all} WHERE k = 2 AND rowkind = '+U'");
    assert_eq!(rows(&s, &filtered).await, ["2|+U"]);
    let mut binlog = rows(&s, &format!("SELECT k, rowkind, v FROM t$binlog {all}")).await;
    binlog.sort();
    assert_eq!(binlog, ["[1]|+I|[1]", "[1]|-D|[1]", "[2, 2]|+U|[1, 2]", "[2]|+I|[1]"]);
    // What is deleted is there until a compaction drops it.
    let now = "FROM t$audit_log WHERE rowkind <> '-D'";
    assert_eq!(rows(&s, &format!("SELECT count(*) {now}")).await, ["1"]);
    assert_eq!(rows(&s, &format!("SELECT * {now}")).await, ["+I|2|2"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn functions_are_tables_with_options() {
    let s = session();
    run(&s, CHANGES).await;
    let by_option = "SELECT * FROM t OPTIONS('incremental-between' = '2,4') ORDER BY k";
    assert_eq!(rows(&s, by_option).await, ["2|2"], "what is taken back does not come");
    assert_eq!(rows(&s, "SELECT x.v FROM paimon_incremental_query('t', 2, '4') AS x").await, ["2"]);
    let joined = "SELECT count(*) FROM paimon_incremental_query('default.t$audit_log', 0, 6) a JOIN t USING (k)";
    assert_eq!(rows(&s, joined).await, ["3"]);
    let times = "SELECT count(*) FROM paimon_incremental_between_timestamp('t', 0, '2999-01-01 00:00:00')";
    assert_eq!(rows(&s, times).await, ["3"]);
    assert_eq!(rows(&s, "SELECT count(*) FROM t OPTIONS('incremental-between' = '0,6')").await, ["3"]);
    let e = fails(&s, "SELECT * FROM paimon_incremental_query('t', 2, 99)").await;
    assert_eq!(e.kind(), ErrorKind::NotFound);
}

#[tokio::test(flavor = "multi_thread")]
async fn conditions_become_filters() {
    let s = session();
    run(&s, CHANGES).await;
    let id = Identifier::new("default", "t").unwrap();
    let v = Predicate::Compare { field_id: 1, op: CompareOp::Gt, literal: Datum::Int(1) };
    assert_eq!(s.condition(&id, "v > 1 -- all of them").await.unwrap(), v);
    assert_eq!(s.condition(&id, "1 = 2").await.unwrap(), Predicate::Constant(false));
    assert!(matches!(s.condition(&id, "v + k > 1").await.unwrap(), Predicate::Computed(_)));
    for refused in ["v > random()", "v > (SELECT max(k) FROM t)"] {
        assert_eq!(s.condition(&id, refused).await.unwrap_err().kind(), ErrorKind::Unsupported);
    }
    assert_eq!(s.condition(&id, "x > 1").await.unwrap_err().kind(), ErrorKind::Invalid);
    assert!(s.condition(&id, "1 = 1; DROP TABLE t").await.is_err());
}
