//! Where the rows of a table go: by their own values, by what the table has of their keys, or to where rows wait.

use std::collections::HashMap;

use arrow_array::{Int8Array, RecordBatch};
use linn_format::Result;
use linn_format::row::BinaryRow;
use linn_format::schema::{Bucketing, TableSchema};

use crate::assign::{CrossPartition, DynamicBuckets, Kept, Messages, Partitions, Routed, Router, group};
use crate::scan::Waiting;
use crate::table::Table;

/// The routing of one table.
pub(crate) struct Routing {
    router: Router,
    buckets: Buckets,
}

enum Buckets {
    /// A row's values say its bucket.
    OfRows,
    /// A key keeps the bucket that it was given.
    Dynamic(Box<DynamicBuckets>),
    /// A key is in one partition, whatever its rows say.
    Keys(Box<CrossPartition>),
    /// Rows go to the buckets of their partition, and wait at first where it has none.
    Placed(Box<Placed>),
}

/// A batch job on a table whose rows may wait for a bucket.
pub(crate) struct Placed {
    pub(crate) table: Table,
    pub(crate) user: String,
    /// Number of buckets by partition.
    pub(crate) counts: HashMap<BinaryRow, i32>,
    /// Whether what the table holds matters.
    pub(crate) restore: bool,
}

impl Routing {
    /// The routing of a table whose rows say their buckets, or all wait for one.
    ///
    /// # Errors
    /// As [`Router::new`].
    pub(crate) fn of_rows(schema: &TableSchema) -> Result<Self> {
        Ok(Self { router: Router::new(schema)?, buckets: Buckets::OfRows })
    }

    /// The routing of a table of which `kept` stays.
    ///
    /// # Errors
    /// As [`Router::new`], and `Invalid` for a bad option value.
    pub(crate) fn of(table: &Table, kept: Kept) -> Result<Self> {
        let schema = table.schema();
        let router = Router::new(schema)?;
        if router.bucketing() != Bucketing::Dynamic {
            return Ok(Self { router, buckets: Buckets::OfRows });
        }
        let buckets = match schema.is_cross_partition() {
            true => Buckets::Keys(Box::new(CrossPartition::new(table, kept)?)),
            false => Buckets::Dynamic(Box::new(DynamicBuckets::new(table, !kept.is_nothing())?)),
        };
        Ok(Self { router, buckets })
    }

    /// The routing of a batch job that places the rows that it writes.
    ///
    /// # Errors
    /// As [`Router::new`].
    pub(crate) fn placed(placed: Placed) -> Result<Self> {
        Ok(Self { router: Router::new(placed.table.schema())?, buckets: Buckets::Placed(Box::new(placed)) })
    }

    /// Number of buckets; −1 for none or dynamic ones, −2 for postponed ones.
    pub(crate) fn buckets(&self) -> i32 {
        self.router.buckets()
    }

    /// How rows get their buckets.
    pub(crate) fn bucketing(&self) -> Bucketing {
        self.router.bucketing()
    }

    /// Whether the values of a row say its bucket.
    pub(crate) fn is_of_rows(&self) -> bool {
        matches!(self.buckets, Buckets::OfRows)
    }

    /// Whether rows that were split must be written: keys are known to have moved by then, and move only once.
    pub(crate) fn moves_keys(&self) -> bool {
        matches!(self.buckets, Buckets::Keys(_))
    }

    /// Splits a batch by partition and bucket.
    pub(crate) async fn split(&mut self, rows: RecordBatch, kinds: Int8Array) -> Result<Vec<Routed>> {
        match &mut self.buckets {
            Buckets::OfRows => self.router.split(&rows, &kinds),
            _ if rows.num_rows() == 0 => Ok(Vec::new()),
            Buckets::Dynamic(dynamic) => {
                let partitions = self.router.partitions(&rows)?;
                let buckets = dynamic.assign(&rows, &partitions).await?;
                group(&rows, &kinds, &partitions, &buckets)
            }
            Buckets::Keys(keys) => {
                let moved = keys.assign(&rows, &kinds, &self.router.partitions(&rows)?).await?;
                group(&moved.rows, &moved.kinds, &moved.partitions, &moved.buckets)
            }
            Buckets::Placed(placed) => {
                let partitions = self.router.partitions(&rows)?;
                let buckets = placed.buckets(&self.router, &rows, &partitions)?;
                group(&rows, &kinds, &partitions, &buckets)
            }
        }
    }

    /// Adds to the messages of a commit what says where their keys are, and places rows that wait.
    ///
    /// # Errors
    /// As writing; nothing has happened to the messages then.
    pub(crate) async fn hand_over(&mut self, messages: &mut Messages) -> Result<()> {
        match &mut self.buckets {
            Buckets::OfRows => Ok(()),
            Buckets::Dynamic(dynamic) => dynamic.hand_over(messages).await,
            Buckets::Keys(keys) => {
                keys.hand_over(messages);
                Ok(())
            }
            Buckets::Placed(placed) => placed.place(messages).await,
        }
    }
}

impl Placed {
    fn buckets(&self, router: &Router, rows: &RecordBatch, partitions: &Partitions) -> Result<Vec<i32>> {
        let counts: Vec<Option<i32>> = partitions.rows.iter().map(|p| self.counts.get(p).copied()).collect();
        let mut by_count: HashMap<i32, Vec<i32>> = HashMap::new();
        for count in counts.iter().flatten() {
            if !by_count.contains_key(count) {
                by_count.insert(*count, router.buckets_of(rows, *count)?);
            }
        }
        let bucket = |(row, partition): (usize, &u32)| {
            let count = counts.get(*partition as usize).copied().flatten();
            count.and_then(|count| by_count.get(&count)?.get(row).copied()).unwrap_or(Bucketing::POSTPONED)
        };
        Ok(partitions.of_row.iter().enumerate().map(bucket).collect())
    }

    async fn place(&mut self, messages: &mut Messages) -> Result<()> {
        let staged: Vec<Waiting> = messages
            .iter()
            .filter(|((_, bucket), _)| *bucket == Bucketing::POSTPONED)
            .map(|(_, message)| Waiting::new(message.partition.clone(), message.new_files.clone()))
            .collect();
        // Boxed because placing writes, as this does.
        let placed = Box::pin(super::postpone::place_staged(&self.table, &self.user, staged, self.restore)).await?;
        messages.retain(|(_, bucket), _| *bucket != Bucketing::POSTPONED);
        for message in messages.values_mut() {
            message.total_buckets = self.counts.get(&message.partition).copied().unwrap_or(message.total_buckets);
        }
        self.counts.extend(placed.iter().map(|message| (message.partition.clone(), message.total_buckets)));
        messages.extend(placed.into_iter().map(|m| ((m.partition.to_serialized().to_vec(), m.bucket), m)));
        Ok(())
    }
}
