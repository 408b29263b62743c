//! The buckets of a table that wait for a compaction: those that slow reads most come first, and of these the smallest, so
//! that no large bucket holds the others up. Files are looked at a few buckets at a time.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use linn_format::Result;
use linn_format::file::DataFileMeta;
use linn_format::manifest::IndexManifestEntry;
use linn_format::row::BinaryRow;
use linn_format::snapshot::Snapshot;

use super::compact::{BucketPlan, CompactJob, Due};
use crate::compact::{Compactor, Settings, TableFiles};
use crate::merge::{KeyOrder, MergeSpec};
use crate::scan::BucketLoad;
use crate::snapshot::Snapshots;
use crate::table::Table;
use crate::vector::{BucketVectors, vector_lines};

/// Files whose metadata is in memory at a time, unless one bucket has more.
const FILES_AT_ONCE: usize = 2_000;

/// What is to be done, planned as it is taken.
pub(super) struct Queue {
    table: Table,
    full: bool,
    settings: Arc<Settings>,
    spec: Arc<MergeSpec>,
    order: KeyOrder,
    /// Not looked at yet.
    loads: VecDeque<BucketLoad>,
    ready: VecDeque<Due>,
    /// The index files of deletion vectors; none in tables without.
    lines: Vec<IndexManifestEntry>,
    snapshot: Option<Arc<Snapshot>>,
}

type Files = (i32, Vec<Arc<DataFileMeta>>);

impl Queue {
    /// The buckets of the latest snapshot.
    pub(super) async fn new(table: &Table, job: CompactJob<'_>) -> Result<Self> {
        let lookup = table;
        let table = &table.widened();
        let mut queue = Self {
            table: table.clone(),
            full: job.full,
            settings: Arc::new(Settings::of(table.schema())?.at_once()),
            spec: Arc::new(MergeSpec::of(table.schema(), &table.schema().fields)?),
            order: KeyOrder::of(table.schema()),
            loads: VecDeque::new(),
            ready: VecDeque::new(),
            lines: Vec::new(),
            snapshot: Snapshots::new(lookup).latest().await?,
        };
        let Some(snapshot) = queue.snapshot.clone() else { return Ok(queue) };
        if queue.settings.keeps_vectors() {
            queue.lines = vector_lines(lookup, &snapshot).await?;
        }
        let mut scan = lookup.scan().snapshot(snapshot).every_level();
        if let Some(partitions) = job.partitions {
            scan = scan.partitions(partitions.to_vec());
        }
        let mut loads = scan.bucket_loads().await?;
        // The last keys only make the order the same every time.
        loads.sort_by(|a, b| {
            let urgent = b.runs.cmp(&a.runs).then(a.bytes.cmp(&b.bytes));
            urgent
                .then_with(|| a.partition.to_serialized().cmp(&b.partition.to_serialized()))
                .then(a.bucket.cmp(&b.bucket))
        });
        queue.loads = loads.into();
        Ok(queue)
    }

    /// Leaves the buckets of some partitions to others.
    pub(super) fn leave_out(&mut self, left: impl Fn(&BinaryRow) -> bool) {
        self.loads.retain(|load| !left(&load.partition));
    }

    /// The next compaction; `None` when nothing is left.
    pub(super) async fn next(&mut self) -> Result<Option<Due>> {
        while self.ready.is_empty() && !self.loads.is_empty() {
            self.look().await?;
        }
        Ok(self.ready.pop_front())
    }

    /// Plans the next few buckets.
    async fn look(&mut self) -> Result<()> {
        let mut files = 0;
        let mut few = Vec::new();
        while let Some(load) = self.loads.front()
            && (few.is_empty() || files + load.files <= FILES_AT_ONCE)
        {
            files += load.files;
            few.extend(self.loads.pop_front());
        }
        let mut found = self.files(&few).await?;
        for load in few {
            let Some((total_buckets, files)) = found.remove(&(load.partition.clone(), load.bucket)) else { continue };
            let (partition, bucket) = (load.partition, load.bucket);
            let (table, batch_size) = (self.table.clone(), self.settings.batch_size);
            let partition_of = partition.clone();
            let of_bucket = TableFiles { table, partition: partition_of, bucket, batch_size, alone: true };
            let lines = self.lines.iter().filter(|line| line.partition == partition && line.bucket == bucket);
            let vectors = BucketVectors::load(&self.table, lines.cloned().collect()).await?;
            let (env, spec, settings) = (self.table.env().clone(), self.spec.clone(), self.settings.clone());
            let mut compactor =
                Compactor::new(env, Arc::new(of_bucket), spec, self.order.clone(), settings, files, vectors);
            if let Some((choice, task)) = compactor.task(self.full)? {
                let steps = task.steps.clone();
                let plan = BucketPlan { partition, bucket, total_buckets, choice, steps };
                self.ready.push_back(Due { plan, compactor, task });
            }
        }
        Ok(())
    }

    /// The bucket count and the files of some buckets.
    async fn files(&self, of: &[BucketLoad]) -> Result<HashMap<(BinaryRow, i32), Files>> {
        let mut found: HashMap<(BinaryRow, i32), Files> = HashMap::new();
        let Some(snapshot) = &self.snapshot else { return Ok(found) };
        let partitions: HashSet<BinaryRow> = of.iter().map(|load| load.partition.clone()).collect();
        let buckets: HashSet<i32> = of.iter().map(|load| load.bucket).collect();
        let scan = self.table.scan().with_statistics().snapshot(Arc::clone(snapshot)).every_level();
        let scan = scan.partitions(partitions.into_iter().collect()).buckets(buckets.into_iter().collect());
        for split in scan.plan().await?.splits {
            let bucket = found.entry((split.partition, split.bucket)).or_insert((split.total_buckets, Vec::new()));
            bucket.1.extend(split.files);
        }
        Ok(found)
    }
}
