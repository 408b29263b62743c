//! What a scan says of itself in `EXPLAIN ANALYZE`: rows and time of each partition, and once what planning and reading cost,
//! and what was left out by what.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use datafusion::arrow::record_batch::RecordBatch;
use datafusion::error::Result as DfResult;
use datafusion::physical_plan::metrics::{
    BaselineMetrics, Count, ExecutionPlanMetricsSet, Metric, MetricBuilder, MetricValue, MetricsSet,
};
use futures::Stream;
use linn::core::scan::ScanCounts;
use linn::{Split, Table};

/// The metrics of one scan.
#[derive(Debug, Default)]
pub(super) struct ScanMetrics {
    partitions: ExecutionPlanMetricsSet,
    counts: Arc<ScanCounts>,
    /// Requests and bytes of planning.
    planning: [AtomicU64; 2],
    /// Files, splits, partitions, buckets.
    sizes: [AtomicU64; 4],
}

impl ScanMetrics {
    /// The table, whose scan is counted here.
    pub(super) fn of(&self, table: &Table) -> Table {
        table.counted(Arc::clone(&self.counts))
    }

    /// Notes that the scan is planned, with these splits, in the order of partitions and buckets.
    pub(super) fn planned<'s>(&self, splits: impl Iterator<Item = &'s Split>) {
        let [requests, bytes] = &self.planning;
        requests.store(self.counts.requests.get(), Ordering::Relaxed);
        bytes.store(self.counts.bytes.get(), Ordering::Relaxed);
        let (mut files, mut all, mut partitions, mut buckets) = (0, 0, 0, 0);
        let mut last: Option<&Split> = None;
        for split in splits {
            files += split.files.len() as u64;
            all += 1;
            let partition = last.is_none_or(|last| last.partition != split.partition);
            partitions += u64::from(partition);
            buckets += u64::from(partition || last.is_none_or(|last| last.bucket != split.bucket));
            last = Some(split);
        }
        let sizes = [files, all, partitions, buckets];
        self.sizes.iter().zip(sizes).for_each(|(place, size)| place.store(size, Ordering::Relaxed));
    }

    /// What a partition of the plan counts.
    pub(super) fn of_partition(&self, partition: usize) -> PartMetrics {
        PartMetrics(BaselineMetrics::new(&self.partitions, partition))
    }

    /// Counts the splits of a partition of the plan that are left out while the query runs.
    pub(super) fn splits_pruned(&self, partition: usize) -> Count {
        MetricBuilder::new(&self.partitions).counter("splits_pruned", partition)
    }

    /// All metrics as they are now; those of the whole scan only as far as they say something.
    pub(super) fn now(&self) -> MetricsSet {
        let mut all = self.partitions.clone_inner();
        let [plan_requests, plan_bytes] = self.planning.each_ref().map(|count| count.load(Ordering::Relaxed));
        let [files, splits, partitions, buckets] = self.sizes.each_ref().map(|size| size.load(Ordering::Relaxed));
        let counts = &self.counts;
        let always = [
            ("files", files),
            ("splits", splits),
            ("partitions", partitions),
            ("buckets", buckets),
            ("row_groups", counts.groups.read()),
            ("requests", counts.requests.get().saturating_sub(plan_requests)),
            ("bytes_read", counts.bytes.get().saturating_sub(plan_bytes)),
            ("planning_requests", plan_requests),
            ("planning_bytes", plan_bytes),
            ("cache_hits", counts.cached.get()),
        ];
        let sometimes = [
            ("manifests_pruned", counts.manifests_pruned.get()),
            ("files_pruned_by_partition", counts.by_partition.get()),
            ("files_pruned_by_bucket", counts.by_bucket.get()),
            ("files_pruned_by_level", counts.by_level.get()),
            ("files_pruned_by_key", counts.by_key.get()),
            ("files_pruned_by_statistics", counts.by_statistics.get()),
            ("files_pruned_by_index", counts.by_index.get()),
            ("row_groups_pruned", counts.groups.pruned()),
        ];
        let sometimes = sometimes.into_iter().filter(|(_, value)| *value > 0);
        for (name, value) in always.into_iter().chain(sometimes) {
            let count = Count::new();
            count.add(usize::try_from(value).unwrap_or(usize::MAX));
            all.push(Arc::new(Metric::new(MetricValue::Count { name: name.into(), count }, None)));
        }
        all
    }
}

/// What a partition of the plan counts.
pub(super) struct PartMetrics(BaselineMetrics);

impl PartMetrics {
    /// The batches, their rows counted and the time until they are there measured.
    pub(super) fn measured<S>(self, batches: S) -> Measured<S>
    where
        S: Stream<Item = DfResult<RecordBatch>>,
    {
        Measured { batches: Box::pin(batches), metrics: self.0 }
    }
}

/// A stream of batches that is measured.
pub(super) struct Measured<S> {
    batches: Pin<Box<S>>,
    metrics: BaselineMetrics,
}

impl<S: Stream<Item = DfResult<RecordBatch>>> Stream for Measured<S> {
    type Item = DfResult<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let timer = self.metrics.elapsed_compute().clone();
        let _timed = timer.timer();
        let polled = self.batches.as_mut().poll_next(context);
        self.metrics.record_poll(polled)
    }
}
