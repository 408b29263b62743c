//! What compaction does beside merging: rows that expire, many runs merged over spills, the view of what is compacted.

use linn_format::schema::SchemaChange;
use linn_format::types::DataType;

use crate::case::Case;

#[tokio::test(flavor = "multi_thread")]
async fn old_rows_leave_with_a_compaction() {
    // Seconds: one in 1970, one in 2033.
    let options = [("record-level.expire-time", "1 d"), ("record-level.time-field", "at")];
    let mut case = Case::new("k INT, at INT NOT NULL", "k", &options).await;
    case.commit(&["+I(1,1000)", "+I(2,2000000000)"]).await;
    case.compact(true).await;
    assert_eq!(case.rows().await, ["2,2000000000"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn old_rows_leave_by_a_time_of_every_type() {
    let (old, new) = ("2001-01-01 00:00:00", "2200-01-01 00:00:00");
    let times = ["", " WITH LOCAL TIME ZONE"];
    let stamps = times.iter().flat_map(|zone| [0, 3, 6, 9].map(|digits| format!("TIMESTAMP({digits}){zone}")));
    let types = stamps.map(|sql| (sql, old, new)).chain([("BIGINT".to_owned(), "1000", "7000000000000")]);
    for (sql, old, new) in types {
        let options = [("record-level.expire-time", "1 d"), ("record-level.time-field", "at")];
        let mut case = Case::new(&format!("k INT, at {sql}"), "k", &options).await;
        case.commit(&[&format!("+I(1,{old})"), &format!("+I(2,{new})")]).await;
        // Of a file alone nothing is known to have expired where it has no statistics.
        case.commit(&["+I(3,NULL)"]).await;
        case.compact(true).await;
        let keys: Vec<String> = case.select(&["k"], None).await;
        assert_eq!(keys, ["2", "3"], "{sql}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn many_runs_are_merged_over_spills() {
    let sum = [("merge-engine", "aggregation"), ("fields.v.aggregate-function", "sum"), ("write-only", "true")];
    let mut case = Case::new("k INT, v INT", "k", &sum).await;
    for round in 0..9 {
        let rows: Vec<String> = (round..round + 20).map(|k| format!("+I({k},1)")).collect();
        case.commit(&rows.iter().map(String::as_str).collect::<Vec<_>>()).await;
    }
    let expected = case.rows().await;
    assert_eq!(expected.iter().find(|row| row.starts_with("8,")).map(String::as_str), Some("8,9"));
    let mut bounded = case.with(&[("sort-spill-threshold", "2"), ("sort-spill-buffer-size", "1 kb")]);
    assert_eq!(bounded.rows().await, expected);
    bounded.compact(true).await;
    assert_eq!(case.rows().await, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_read_optimised_view_sees_what_a_full_compaction_saw() {
    let mut case = Case::new("k INT, v INT", "k", &[("write-only", "true")]).await;
    case.commit(&["+I(1,1)", "+I(2,2)"]).await;
    let mut seen = case.with(&[]);
    seen.table = case.table.read_optimized();
    assert!(seen.rows().await.is_empty());
    case.compact(true).await;
    case.commit(&["+I(2,3)", "-D(1,1)"]).await;
    assert_eq!(seen.rows().await, ["1,1", "2,2"]);
    assert_eq!(case.rows().await, ["2,3"]);
}

/// Every engine reads the rows of a lookup file as of the schema of the data file it lies beside.
#[tokio::test(flavor = "multi_thread")]
async fn regress_files_of_an_older_schema_get_no_lookup_files() {
    let options =
        [("changelog-producer", "lookup"), ("lookup.remote-file.enabled", "true"), ("target-file-size", "1 b")];
    let mut case = Case::new("k INT, v INT", "k", &options).await;
    case.with(&[("write-only", "true")]).commit(&["+I(1,1)", "+I(2,2)"]).await;
    let column = SchemaChange::AddColumn {
        path: vec!["w".to_owned()],
        data_type: DataType::parse("STRING").unwrap(),
        description: None,
        position: None,
    };
    case.alter(&[column]).await;
    case.commit(&["+I(3,3,c)"]).await;
    case.compact(true).await;
    let splits = case.table.scan().plan().await.unwrap().splits;
    let files: Vec<(i64, bool)> = splits
        .iter()
        .flat_map(|split| {
            split.files.iter().map(|file| (file.schema_id.0, !file.extra_files.is_empty())).collect::<Vec<_>>()
        })
        .collect();
    assert!(files.contains(&(0, false)) && files.contains(&(1, true)) && !files.contains(&(0, true)), "{files:?}");
    case.commit(&["+U(1,7,x)"]).await;
    assert_eq!(case.rows().await, ["1,7,x", "2,2,NULL", "3,3,c"]);
}
