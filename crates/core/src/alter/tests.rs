//! Creating and changing schemas, also at the same time.

use std::sync::Arc;

use bytes::Bytes;
use linn_format::{ErrorKind, SchemaId};

use super::*;
use crate::fixture::{memory, schema, table};
use crate::seam::Storage;
use crate::storage::{Fault, Faulty, Op};

fn set(key: &str, value: &str) -> [SchemaChange; 1] {
    [SchemaChange::SetOption { key: key.into(), value: value.into() }]
}

#[tokio::test]
async fn a_table_is_created_once() {
    let store = memory();
    let schemas = Schemas::at(store.clone(), "db.db/t/");
    assert!(schemas.latest().await.unwrap().is_none());
    let first = schema(true, true, &[("bucket", "2")]);
    schemas.create(&first).await.unwrap();
    assert_eq!(*schemas.latest().await.unwrap().unwrap(), first);
    assert_eq!(schemas.create(&first).await.unwrap_err().kind(), ErrorKind::AlreadyExists);
    assert_eq!(store.paths(), ["db.db/t/schema/schema-0"]);
}

#[tokio::test]
async fn changes_of_many_are_all_applied() {
    let store = memory();
    let table = table(store, schema(false, false, &[])).await;
    let tasks: Vec<_> = (0..8)
        .map(|i| {
            let table = table.clone();
            tokio::spawn(async move { Schemas::new(&table).commit(&table, &set(&format!("custom.{i}"), "x")).await })
        })
        .collect();
    for task in tasks {
        task.await.unwrap().unwrap();
    }
    let schemas = Schemas::new(&table);
    let last = schemas.latest().await.unwrap().unwrap();
    assert_eq!(last.id, SchemaId(8));
    assert!((0..8).all(|i| last.options.raw(&format!("custom.{i}")) == Some("x")));
}

#[tokio::test]
async fn an_uncertain_creation_is_read_back() {
    let inner = memory();
    let store = Arc::new(Faulty::new(inner.clone()));
    let table = table(store.clone(), schema(false, false, &[])).await;
    store.inject(Op::Create, "schema-1", 0, 1, Fault::After(ErrorKind::UnknownOutcome));
    let schemas = Schemas::new(&table);
    assert_eq!(schemas.commit(&table, &set("custom", "x")).await.unwrap().id, SchemaId(1));
    store.inject(Op::Create, "schema-2", 0, 1, Fault::Before(ErrorKind::UnknownOutcome));
    assert_eq!(schemas.commit(&table, &set("custom", "y")).await.unwrap_err().kind(), ErrorKind::UnknownOutcome);
    assert_eq!(schemas.list().await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_damaged_schema_is_named() {
    let store = memory();
    let table = table(store.clone(), schema(false, false, &[])).await;
    store.put("db.db/t/schema/schema-1", Bytes::from_static(b"{")).await.unwrap();
    let error = Schemas::new(&table).latest().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.to_string().contains("schema-1"));
}
