//! Streams of tables that are altered while they are followed.

use linn_core::stream::Position;
use linn_core::{Schemas, Table};
use linn_format::schema::SchemaChange;
use linn_format::types::DataType;
use linn_format::{ErrorKind, SnapshotId};

use crate::case::Case;
use crate::follow::{drain, next, rows};

fn path(name: &str) -> Vec<String> {
    vec![name.to_owned()]
}

/// A table with a row, and the stream of it that has read that row.
async fn begun() -> (Case, linn_core::stream::ChangeStream) {
    let mut case = Case::new("k INT, v INT", "k", &[("scan.snapshot-id", "1")]).await;
    case.commit(&["+I(1,1)"]).await;
    let mut stream = case.table.changes().open().await.unwrap();
    assert_eq!(next(&mut stream).await.unwrap().unwrap().0, ["+I(1,1)"]);
    (case, stream)
}

#[tokio::test]
async fn added_and_renamed_columns_end_nothing() {
    let (mut case, mut stream) = begun().await;
    let add = SchemaChange::AddColumn {
        path: path("more"),
        data_type: DataType::parse("STRING").unwrap(),
        description: None,
        position: None,
    };
    let rename = SchemaChange::RenameColumn { path: path("v"), new_name: "w".into() };
    case.alter(&[add, rename]).await;
    case.commit(&["+I(2,2,b)"]).await;
    assert_eq!(next(&mut stream).await.unwrap().unwrap().0, ["+I(2,2)"]);
    // A new one tells everything, of old rows too.
    assert_eq!(case.follow(&[("scan.snapshot-id", "1")]).await.unwrap(), ["+I(1,1,NULL)", "+I(2,2,b)"]);
}

#[tokio::test]
async fn what_would_be_told_wrongly_ends_a_stream() {
    let wider = SchemaChange::UpdateColumnType {
        path: path("v"),
        new_type: DataType::parse("BIGINT").unwrap(),
        keep_nullability: true,
    };
    for (change, row, what) in [
        (SchemaChange::DropColumn { path: path("v") }, "+I(2)", "\"v\" was dropped"),
        (wider, "+I(2,3000000000)", "\"v\" was made BIGINT from INT"),
    ] {
        let (mut case, mut stream) = begun().await;
        let only_k = |table: &Table| table.changes().fields(vec![table.schema().fields[0].clone()]);
        let mut keys = only_k(&case.table).open().await.unwrap();
        case.alter(&[change]).await;
        case.commit(&[row]).await;
        let error = next(&mut stream).await.unwrap().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.to_string().contains(what), "{error}");
        // Who does not read the column goes on, and so does who opens the table anew.
        let mut told = Vec::new();
        while told.len() < 2 {
            told.extend(next(&mut keys).await.unwrap().unwrap().0);
        }
        assert_eq!(told, ["+I(1)", "+I(2)"]);
        let table = case.table.with_schema((*Schemas::new(&case.table).latest().await.unwrap().unwrap()).clone());
        let more = drain(&table, Some(Position::at(SnapshotId(2)))).await.unwrap();
        assert_eq!(rows(&more), [row]);
    }
}
