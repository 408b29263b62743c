//! A column gets another type only where every row has a value of it; rows that hold others are named.

use std::sync::Arc;

use linn_core::Schemas;
use linn_format::schema::SchemaChange;
use linn_format::types::DataType;
use linn_format::{ErrorKind, Result};

use crate::case::Case;

fn retype(column: &str, to: &str) -> SchemaChange {
    let new_type = DataType::parse(to).unwrap();
    SchemaChange::UpdateColumnType { path: vec![column.to_owned()], new_type, keep_nullability: true }
}

impl Case {
    async fn retype(&mut self, column: &str, to: &str) -> Result<()> {
        let schemas = Schemas::at(Arc::clone(self.table.storage()), self.table.path());
        let schema = schemas.commit(&self.table, &[retype(column, to)]).await?;
        self.table = self.table.with_schema((*schema).clone());
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn regress_text_that_is_no_number_refuses_a_number() {
    for keys in ["k", ""] {
        let options: &[(&str, &str)] = if keys.is_empty() { &[("bucket", "-1")] } else { &[("write-only", "true")] };
        let mut case = Case::new("k INT, state STRING, n STRING", keys, options).await;
        case.commit(&["+I(1,new,1)", "+I(2,12,2)"]).await;
        for to in ["INT", "DOUBLE", "DATE", "TIMESTAMP(3)", "BOOLEAN"] {
            let e = case.retype("state", to).await.unwrap_err();
            assert_eq!(e.kind(), ErrorKind::Invalid, "{to}");
            let text = format!("{e:?} {:?}", e.hint());
            assert!(text.contains("state") && text.contains("new") && text.contains("add a column"), "{to}: {text}");
            assert!(keys.is_empty() || text.contains("k=1"), "{to}: {text}");
        }
        assert_eq!(case.rows().await, ["1,new,1", "2,12,2"], "the table is as it was");
        case.retype("n", "INT").await.unwrap();
        case.commit(&["+I(3,x,3)"]).await;
        case.compact(true).await;
        assert_eq!(case.rows().await, ["1,new,1", "2,12,2", "3,x,3"]);
    }
}

/// What a compaction would meet counts, also where a newer row hides it.
#[tokio::test(flavor = "multi_thread")]
async fn hidden_rows_count() {
    let mut case = Case::new("k INT, state STRING", "k", &[("write-only", "true")]).await;
    case.commit(&["+I(1,new)"]).await;
    case.commit(&["+I(1,7)"]).await;
    assert!(case.retype("state", "INT").await.is_err());
    case.compact(true).await;
    case.retype("state", "INT").await.unwrap();
    assert_eq!(case.rows().await, ["1,7"]);
}

/// Writers of the old type may add rows meanwhile: a read of them says which row it is.
#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_came_later_is_named() {
    let mut case = Case::new("k INT, state STRING", "k", &[("write-only", "true")]).await;
    case.commit(&["+I(1,5)"]).await;
    let mut old = case.with(&[]);
    case.retype("state", "INT").await.unwrap();
    old.commit(&["+I(2,7)", "+I(3,later)", "+I(4,8)"]).await;
    let read = case.table.read().build().unwrap();
    let mut found = None;
    for split in case.table.scan().plan().await.unwrap().splits {
        found = linn_core::read::collect(read.stream(&split).await.unwrap()).await.err().or(found);
    }
    let text = format!("{:?}", found.unwrap());
    assert!(text.contains("k=3") && text.contains("later"), "{text}");
    // Other columns are read as before.
    assert_eq!(case.select(&["k"], None).await, ["1", "2", "3", "4"]);
}
