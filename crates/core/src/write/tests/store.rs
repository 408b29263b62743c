//! Files of all buckets of a table, in memory, and a table made of commit messages.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow_array::RecordBatch;
use async_trait::async_trait;
use bytes::Bytes;
use futures::{StreamExt, TryStreamExt};
use linn_format::file::{DataFileMeta, FileSource};
use linn_format::manifest::IndexManifestEntry;
use linn_format::row::{BinaryRow, rows_from_columns};
use linn_format::schema::TableSchema;
use linn_format::stats::SimpleStats;
use linn_format::types::DataField;
use linn_format::{BatchStream, Error, Result, SchemaId};
use parking_lot::Mutex;
use roaring::RoaringTreemap;

use crate::commit::CommitMessage;
use crate::file::Positions;
use crate::file::{BucketFiles, Output, Sink};
use crate::merge::{Columns, KeyOrder, MergeSpec, merge_levels, sections};
use crate::seam::{Env, LocalSpawn, ManualClock, SeededIds};
use crate::storage::Memory;
use crate::vector::BucketVectors;
use crate::write::{Buckets, OpenBucket};

type Bucket = (Vec<u8>, i32);

pub(super) struct Store {
    pub(super) env: Env,
    fields: Vec<DataField>,
    key: Vec<usize>,
    state: Arc<Mutex<State>>,
    _spills: tempfile::TempDir,
}

#[derive(Default)]
struct State {
    next: i64,
    written: BTreeMap<String, Vec<RecordBatch>>,
    live: BTreeMap<Bucket, Vec<Arc<DataFileMeta>>>,
    /// Every file that a commit named.
    committed: BTreeSet<String>,
    /// Files beside data files.
    extra: BTreeMap<String, Bytes>,
    /// Changelog batches that were committed and not taken yet.
    changes: Vec<RecordBatch>,
}

impl Store {
    pub(super) fn new(schema: &TableSchema) -> Arc<Self> {
        let clock = Arc::new(ManualClock::new(0));
        let spills = tempfile::tempdir().unwrap();
        Arc::new(Self {
            env: Env::new(
                Arc::new(Memory::new(clock.clone())),
                clock,
                Arc::new(SeededIds::new(1)),
                Arc::new(LocalSpawn),
                spills.path().join("spill"),
            ),
            fields: schema.fields.clone(),
            key: schema.trimmed_primary_keys().iter().map(|f| schema.index_of(&f.name).unwrap()).collect(),
            state: Arc::default(),
            _spills: spills,
        })
    }

    pub(super) fn file_count(&self) -> usize {
        self.state.lock().written.len()
    }

    pub(super) fn buckets(&self) -> Vec<(BinaryRow, i32)> {
        let state = self.state.lock();
        state.live.keys().map(|(p, b)| (BinaryRow::from_serialized(p.clone()).unwrap(), *b)).collect()
    }

    /// Publishes messages: additions before removals, as a commit does; no file may be added twice or removed absent.
    pub(super) fn commit(&self, messages: &[CommitMessage]) {
        let mut state = self.state.lock();
        for message in messages {
            let key = (message.partition.to_serialized().to_vec(), message.bucket);
            for (gone, new) in [(&Vec::new(), &message.new_files), (&message.compact_before, &message.compact_after)] {
                for file in gone {
                    let live = state.live.get_mut(&key).unwrap();
                    let at = live.iter().position(|f| f.file_name == file.file_name && f.level == file.level);
                    live.remove(at.expect("a compacted file is not live"));
                }
                for file in new {
                    assert!(state.written.contains_key(&file.file_name), "a committed file does not exist");
                    state.committed.insert(file.file_name.clone());
                    state.live.entry(key.clone()).or_default().push(file.clone());
                }
            }
            for file in message.changelog_files.iter().chain(&message.compact_changelog) {
                let batches = state.written.get(&file.file_name).cloned().expect("a changelog file does not exist");
                state.committed.insert(file.file_name.clone());
                state.changes.extend(batches);
            }
        }
    }

    /// The changelog since the last call.
    pub(super) fn take_changes(&self) -> Vec<RecordBatch> {
        std::mem::take(&mut self.state.lock().changes)
    }

    /// Levels of all live files.
    pub(super) fn levels(&self) -> Vec<i32> {
        self.state.lock().live.values().flatten().map(|f| f.level).collect()
    }

    /// Every file was committed once.
    pub(super) fn check_no_leaks(&self) {
        let state = self.state.lock();
        let leaked: Vec<_> = state.written.keys().filter(|name| !state.committed.contains(*name)).collect();
        assert!(leaked.is_empty(), "{leaked:?}");
    }

    pub(super) async fn read_all(self: &Arc<Self>, schema: &TableSchema) -> Vec<RecordBatch> {
        let spec = Arc::new(MergeSpec::of(schema, &schema.fields).unwrap());
        let live = self.state.lock().live.clone();
        let mut batches = Vec::new();
        for files in live.into_values() {
            let mut levels: Vec<_> = files.iter().filter(|f| f.level > 0).collect();
            levels.sort_by_key(|f| f.level);
            for section in sections(&files, &KeyOrder::of(schema)).unwrap() {
                let mut runs = Vec::new();
                for run in section.runs {
                    let mut all = Vec::new();
                    for file in run {
                        let files = Files { store: self.clone() };
                        let read = files.read(&file, spec.read_fields(), None).await.unwrap();
                        let read = read.try_collect::<Vec<_>>().await.unwrap();
                        all.extend(read.into_iter().map(|batch| (batch, file.level)));
                    }
                    runs.push(futures::stream::iter(all.into_iter().map(Ok)).boxed());
                }
                batches.extend(
                    merge_levels(runs, spec.clone(), false, 7, Columns::Beside).try_collect::<Vec<_>>().await.unwrap(),
                );
            }
        }
        batches
    }
}

#[async_trait]
impl Buckets for Store {
    async fn open(&self, partition: &BinaryRow, bucket: i32) -> Result<OpenBucket> {
        let store = Arc::new(Self {
            env: self.env.clone(),
            fields: self.fields.clone(),
            key: self.key.clone(),
            state: self.state.clone(),
            _spills: tempfile::tempdir().unwrap(),
        });
        let key = (partition.to_serialized().to_vec(), bucket);
        let live = self.state.lock().live.get(&key).cloned().unwrap_or_default();
        Ok(OpenBucket { files: Arc::new(Files { store }), live, vectors: BucketVectors::default() })
    }

    async fn below(&self, level: i32) -> Result<Vec<(BinaryRow, i32)>> {
        let state = self.state.lock();
        let below = state.live.iter().filter(|(_, files)| files.iter().any(|f| f.level < level));
        below.map(|((p, b), _)| Ok((BinaryRow::from_serialized(p.clone())?, *b))).collect()
    }

    async fn commits_since_full(&self, _at_most: usize) -> Result<usize> {
        Ok(0)
    }
}

struct Files {
    store: Arc<Store>,
}

#[async_trait]
impl BucketFiles for Files {
    async fn read(
        &self,
        file: &Arc<DataFileMeta>,
        fields: &[DataField],
        deleted: Option<Arc<RoaringTreemap>>,
    ) -> Result<BatchStream> {
        assert!(deleted.is_none(), "these tables have no deletion vectors");
        let state = self.store.state.lock();
        let batches = state.written.get(&file.file_name).ok_or_else(|| Error::not_found(&file.file_name))?;
        let mut columns: Vec<usize> =
            fields.iter().map(|f| self.store.fields.iter().position(|s| s.id == f.id).unwrap()).collect();
        columns.extend([self.store.fields.len(), self.store.fields.len() + 1]);
        let projected: Vec<_> = batches.iter().map(|b| b.project(&columns).map_err(Error::from)).collect();
        Ok(futures::stream::iter(projected).boxed())
    }

    async fn write(&self, output: Output) -> Result<Box<dyn Sink>> {
        let (level, source) = match output {
            Output::Data(level, source) => (level, source),
            Output::Changelog(level) => (level, FileSource::Append),
        };
        let sink = MemorySink {
            store: self.store.clone(),
            level,
            source,
            sorted: !matches!(output, Output::Changelog(_)),
            files: vec![],
            batches: vec![],
        };
        Ok(Box::new(sink))
    }

    async fn delete(&self, file: &DataFileMeta) -> Result<()> {
        let mut state = self.store.state.lock();
        assert!(!state.committed.contains(&file.file_name), "a committed file is deleted");
        state.written.remove(&file.file_name);
        for name in &file.extra_files {
            state.extra.remove(name);
        }
        Ok(())
    }

    async fn read_extra(&self, _file: &DataFileMeta, name: &str) -> Result<Bytes> {
        let state = self.store.state.lock();
        state.extra.get(name).cloned().ok_or_else(|| Error::not_found(name))
    }

    async fn write_extra(&self, _file: &DataFileMeta, name: &str, bytes: Bytes) -> Result<()> {
        self.store.state.lock().extra.insert(name.to_owned(), bytes);
        Ok(())
    }

    async fn delete_extra(&self, _file: &DataFileMeta, name: &str) -> Result<()> {
        self.store.state.lock().extra.remove(name);
        Ok(())
    }

    async fn write_vectors(&self, vectors: &Positions) -> Result<Vec<IndexManifestEntry>> {
        assert!(vectors.is_empty(), "these tables have no deletion vectors");
        Ok(Vec::new())
    }

    async fn delete_vectors(&self, _line: &IndexManifestEntry) -> Result<()> {
        Ok(())
    }
}

struct MemorySink {
    store: Arc<Store>,
    level: i32,
    source: FileSource,
    sorted: bool,
    files: Vec<Arc<DataFileMeta>>,
    batches: Vec<RecordBatch>,
}

/// Rows of a file, so that files roll.
const FILE_ROWS: usize = 9;

impl MemorySink {
    fn roll(&mut self) {
        let batches = std::mem::take(&mut self.batches);
        let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
        if rows == 0 {
            return;
        }
        let schema = batches[0].schema();
        let all = arrow_select::concat::concat_batches(&schema, &batches).unwrap();
        let columns: Vec<_> = self.store.key.iter().map(|&c| all.column(c).clone()).collect();
        let types: Vec<_> = self.store.key.iter().map(|&c| self.store.fields[c].data_type.clone()).collect();
        let keys = rows_from_columns(&columns, &types).unwrap();
        if self.sorted {
            let bounds: Vec<_> = keys.iter().map(|k| k.datum(0, &types[0]).unwrap().unwrap()).collect();
            assert!(bounds.windows(2).all(|w| w[0].compare(&w[1]).unwrap().is_lt()), "a file is not sorted by key");
        }
        use arrow_array::cast::AsArray;
        let sequence =
            all.column(self.store.fields.len()).as_primitive::<arrow_array::types::Int64Type>().values().clone();
        let kinds =
            all.column(self.store.fields.len() + 1).as_primitive::<arrow_array::types::Int8Type>().values().clone();
        let mut state = self.store.state.lock();
        state.next += 1;
        let none = SimpleStats { min: BinaryRow::empty(), max: BinaryRow::empty(), null_counts: Vec::new() };
        let meta = DataFileMeta {
            file_name: format!("data-{}", state.next),
            file_size: rows as i64 * 200,
            row_count: rows as i64,
            min_key: keys[0].clone(),
            max_key: keys[rows - 1].clone(),
            key_stats: none.clone(),
            value_stats: none,
            min_sequence_number: *sequence.iter().min().unwrap(),
            max_sequence_number: *sequence.iter().max().unwrap(),
            schema_id: SchemaId(0),
            level: self.level,
            extra_files: Vec::new(),
            creation_time: Some(0),
            delete_row_count: Some(kinds.iter().filter(|k| **k & 1 == 1).count() as i64),
            embedded_index: None,
            file_source: Some(self.source),
            value_stats_cols: None,
            external_path: None,
            first_row_id: None,
            write_cols: None,
            write_cols_sequences: None,
        };
        state.written.insert(meta.file_name.clone(), batches);
        self.files.push(Arc::new(meta));
    }
}

#[async_trait]
impl Sink for MemorySink {
    async fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let mut at = 0;
        while at < batch.num_rows() {
            let room = FILE_ROWS - self.batches.iter().map(RecordBatch::num_rows).sum::<usize>();
            let len = room.min(batch.num_rows() - at);
            self.batches.push(batch.slice(at, len));
            at += len;
            if len == room {
                self.roll();
            }
        }
        Ok(())
    }

    async fn close(mut self: Box<Self>) -> Result<Vec<Arc<DataFileMeta>>> {
        self.roll();
        Ok(std::mem::take(&mut self.files))
    }

    async fn abort(self: Box<Self>) -> Result<()> {
        let mut state = self.store.state.lock();
        for file in &self.files {
            state.written.remove(&file.file_name);
        }
        Ok(())
    }
}
