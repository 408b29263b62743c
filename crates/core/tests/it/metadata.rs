//! A table whose data files are only names: enough for everything about commits.

use std::collections::BTreeMap;
use std::sync::Arc;

use linn_core::commit::Commit;
use linn_core::{CommitMessage, Env, Schemas, Snapshots, Table, storage};
use linn_format::file::{DataFileMeta, FileSource};
use linn_format::manifest::{FileKind, read_manifest, read_manifest_list};
use linn_format::options::Options;
use linn_format::row::BinaryRow;
use linn_format::schema::{NewTable, TableSchema};
use linn_format::stats::SimpleStats;
use linn_format::types::{DataField, DataType};
use linn_format::{ErrorKind, SchemaId};

const PATH: &str = "db.db/t";

/// Opens the table below a warehouse, making it when it is not there.
pub(crate) async fn table(uri: &str, options: &Options) -> Table {
    let store = storage::open(uri, options).unwrap();
    let schemas = Schemas::at(Arc::clone(&store), PATH);
    let new = NewTable {
        columns: vec![DataField::new(0, "v", DataType::string())],
        options: [
            ("bucket", "-1"),
            ("commit.max-retries", "100000"),
            ("commit.min-retry-wait", "2 ms"),
            ("commit.max-retry-wait", "100 ms"),
        ]
        .into_iter()
        .collect(),
        ..NewTable::default()
    };
    match schemas.create(&TableSchema::create(new, 0).unwrap()).await {
        Ok(()) => {}
        Err(e) => assert_eq!(e.kind(), ErrorKind::AlreadyExists, "{e}"),
    }
    let schema = schemas.latest().await.unwrap().unwrap();
    Table::new("db.t", PATH, (*schema).clone(), Env::system(store).unwrap())
}

/// A commit of one new file.
pub(crate) fn commit(identifier: i64, file_name: &str) -> Commit {
    let none = || SimpleStats { min: BinaryRow::empty(), max: BinaryRow::empty(), null_counts: Vec::new() };
    let file = DataFileMeta {
        file_name: file_name.to_owned(),
        file_size: 1,
        row_count: 1,
        min_key: BinaryRow::empty(),
        max_key: BinaryRow::empty(),
        key_stats: none(),
        value_stats: none(),
        min_sequence_number: 0,
        max_sequence_number: 0,
        schema_id: SchemaId(0),
        level: 0,
        extra_files: Vec::new(),
        creation_time: None,
        delete_row_count: Some(0),
        embedded_index: None,
        file_source: Some(FileSource::Append),
        value_stats_cols: Some(Vec::new()),
        external_path: None,
        first_row_id: None,
        write_cols: None,
        write_cols_sequences: None,
    };
    let mut message = CommitMessage::new(BinaryRow::empty(), 0, -1);
    message.new_files.push(Arc::new(file));
    Commit::streaming(identifier, vec![message])
}

/// How often each file is live at the latest snapshot, from the bytes on disk.
pub(crate) async fn files(table: &Table) -> BTreeMap<String, i32> {
    let snapshot = Snapshots::new(table).latest().await.unwrap().unwrap();
    let mut counts = BTreeMap::new();
    for list in [&snapshot.base_manifest_list, &snapshot.delta_manifest_list] {
        let bytes = table.storage().read(&table.manifest_path(list), None).await.unwrap();
        for manifest in read_manifest_list(&bytes).unwrap() {
            let bytes = table.storage().read(&table.manifest_path(&manifest.file_name), None).await.unwrap();
            let entries = read_manifest(&bytes).unwrap();
            for i in 0..entries.len() {
                let change = if entries.kind(i) == FileKind::Add { 1 } else { -1 };
                *counts.entry(entries.file_name(i).into()).or_insert(0) += change;
            }
        }
    }
    counts
}

/// The numbers of all snapshots; they have no gaps, and the count of rows at the end is that of the files.
pub(crate) async fn check_history(table: &Table, commits: usize) {
    let snapshots = Snapshots::new(table);
    let ids: Vec<i64> = snapshots.list().await.unwrap().into_iter().map(|id| id.0).collect();
    assert_eq!(ids, (1..=commits as i64).collect::<Vec<_>>());
    let files = files(table).await;
    assert!(files.values().all(|count| *count == 1), "a file is not there once: {files:?}");
    assert_eq!(files.len(), commits);
    let latest = snapshots.latest().await.unwrap().unwrap();
    assert_eq!(latest.total_record_count, Some(commits as i64));
}
