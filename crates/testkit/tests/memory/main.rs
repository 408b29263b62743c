//! Large rows in many buckets (cases: K3): what writing and compacting hold in memory is bounded by the budget and by batches, not by
//! rows × buckets. An allocator that counts says so; nothing else runs in this program.

#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::{BinaryArray, Int32Array, RecordBatch};
use linn_core::write::MemoryBudget;
use linn_core::{Commit, CommitOutcome, Env, Schemas, Table, storage};
use linn_format::options::Options;
use linn_format::schema::{NewTable, TableSchema};
use linn_format::types::{DataField, DataType};
use rand::{RngCore, SeedableRng};

/// Counts the bytes that are allocated now, and the most there ever were since the last look.
struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

fn grown(bytes: usize) {
    let now = NOW.fetch_add(bytes, Ordering::Relaxed) + bytes;
    MOST.fetch_max(now, Ordering::Relaxed);
}

// SAFETY: every call is passed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grown(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        grown(size);
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const MIB: usize = 1 << 20;
const ROW: usize = MIB;
const BUCKETS: usize = 64;
const BUDGET: usize = 8 * MIB;
const ROUNDS: i32 = 4;

/// Most bytes above what is held before, while `work` runs.
async fn most(work: impl Future<Output = ()>) -> usize {
    let before = NOW.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    work.await;
    MOST.load(Ordering::Relaxed) - before
}

async fn table(folder: &tempfile::TempDir, options: &[(&str, &str)]) -> Table {
    let field = |id, name: &str, sql: &str| DataField::new(id, name, DataType::parse(sql).unwrap());
    let mut all: Options = options.iter().copied().collect();
    for (key, value) in [
        ("bucket", BUCKETS.to_string().as_str()),
        ("write-buffer-size", "8 mb"),
        // Random bytes do not get smaller.
        ("file.compression", "none"),
        ("spill-compression", "none"),
        ("num-sorted-run.compaction-trigger", "100"),
    ] {
        all.set(key, value);
    }
    let new = NewTable {
        columns: vec![field(0, "k", "INT NOT NULL"), field(1, "v", "BYTES")],
        primary_keys: vec!["k".to_owned()],
        options: all,
        ..NewTable::default()
    };
    let schema = TableSchema::create(new, 0).unwrap();
    let root = format!("file:{}", folder.path().display());
    let store = storage::open(&root, &Options::new()).unwrap();
    Schemas::at(Arc::clone(&store), "t").create(&schema).await.unwrap();
    let env = Env { spill_dir: folder.path().join("spill"), ..Env::system(store).unwrap() };
    Table::new("db.t", "t", schema, env)
}

async fn commit(table: &Table, identifier: i64, messages: Vec<linn_core::CommitMessage>) {
    let outcome = table.committer("test").commit(Commit::streaming(identifier, messages)).await.unwrap();
    assert!(matches!(outcome, CommitOutcome::Committed(_)), "{outcome:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_rows_in_many_buckets_stay_within_the_budget() {
    for options in [
        &[][..],
        &[("deletion-vectors.enabled", "true"), ("lookup-wait", "false")],
        &[("changelog-producer", "full-compaction"), ("full-compaction.delta-commits", "100")],
    ] {
        let folder = tempfile::tempdir().unwrap();
        let table = table(&folder, options).await;
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(1);
        let mut row = vec![0; ROW];
        let parallelism = std::thread::available_parallelism().map_or(1, usize::from);
        let mut written = 0;
        for round in 0..ROUNDS {
            let budget = MemoryBudget::new(BUDGET as u64);
            let mut writer = table.writer_within("test", budget.clone()).unwrap();
            for k in 0..BUCKETS as i32 {
                random.fill_bytes(&mut row);
                let (keys, values) = (Int32Array::from(vec![k]), BinaryArray::from(vec![row.as_slice()]));
                let columns: [(&str, arrow_array::ArrayRef); 2] = [("k", Arc::new(keys)), ("v", Arc::new(values))];
                let batch = RecordBatch::try_from_iter(columns).unwrap();
                written = written.max(most(async { writer.write(&batch, None).await.unwrap() }).await);
                assert!(budget.used() <= BUDGET as u64, "{} bytes are buffered", budget.used());
            }
            let flushed = most(async {
                let messages = writer.prepare_commit(false).await.unwrap();
                commit(&table, i64::from(round), messages).await;
            })
            .await;
            writer.close().await.unwrap();
            assert_eq!(budget.used(), 0);
            println!("{options:?} round {round}: write {written}, flush {flushed}");
            assert!(written < BUDGET + 8 * ROW, "{options:?}: a write holds {written} bytes");
            assert!(flushed < (8 + 24 * parallelism) * ROW, "{options:?}: a flush holds {flushed} bytes");
        }
        // Every bucket has some runs of few rows; those of one bucket are open at once, not those of all.
        let compacted = most(async {
            let messages = table.compact(None, true).await.unwrap();
            commit(&table, 100, messages).await;
        })
        .await;
        println!("{options:?} compaction: {compacted}");
        let runs = ROUNDS as usize;
        assert!(compacted < (8 + 16 * runs * parallelism) * ROW, "{options:?}: a compaction holds {compacted} bytes");
    }
}
