//! Streaming reads: a table's rows and then its changes, for as long as one likes (spec: features.md B11; cases R1–R9).
//!
//! A stream starts where the table's `scan.*` options say, from a consumer's progress, or from a position that was saved.
//! Every batch comes with the position after it; who saves it once the rows are safe loses nothing and reads nothing twice.
//! Rows of a bucket keep their order. One snapshot is read at a time, a few batches ahead.

mod columns;
mod consumer;
mod follow;
mod part;
mod position;
mod range;
mod readers;
mod start;
mod walk;

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use futures::Stream;
use futures::stream::BoxStream;
use linn_format::predicate::Predicate;
use linn_format::types::DataField;
use linn_format::{Error, Result, SnapshotId};

pub use consumer::Consumers;
pub use position::Position;
pub use range::OutOfRange;
pub use readers::{Reader, Readers};

use crate::read::Unmatched;
use crate::snapshot::Snapshots;
use crate::table::Table;
use columns::Columns;
use follow::Follow;
use readers::Member;
use walk::{Pace, Walk};

/// Some rows of a stream.
#[derive(Debug, Clone)]
pub struct Changes {
    /// The rows, with their kinds in the last column; see [`ChangeStream::schema`]. Empty where only the position has moved.
    pub rows: RecordBatch,
    /// The snapshot that they are of.
    pub snapshot: SnapshotId,
    /// When it was committed, milliseconds since the epoch, where there are rows.
    pub commit_millis: Option<i64>,
    /// Where the stream stands after them.
    pub position: Position,
}

impl Table {
    /// Starts to describe a stream of this table's rows and changes.
    pub fn changes(&self) -> ChangesBuilder {
        ChangesBuilder {
            table: self.clone(),
            fields: self.schema().fields.clone(),
            filter: None,
            position: None,
            sequence_numbers: false,
            waits: true,
            member: None,
        }
    }
}

/// What a stream reads.
#[derive(Debug)]
pub struct ChangesBuilder {
    table: Table,
    fields: Vec<DataField>,
    filter: Option<Predicate>,
    position: Option<Position>,
    sequence_numbers: bool,
    waits: bool,
    member: Option<Arc<Member>>,
}

impl ChangesBuilder {
    /// As one of several readers.
    fn member(mut self, member: Arc<Member>) -> Self {
        self.member = Some(member);
        self
    }

    /// Only these columns of the table, in this order.
    #[must_use]
    pub fn fields(mut self, fields: Vec<DataField>) -> Self {
        self.fields = fields;
        self
    }

    /// Only changes of rows for which this is true. Where a table tells what rows were before, a row that stops to match comes
    /// as the `-U` of the row that did. Where it does not, every change to a row that does not match comes as a `-D` of it,
    /// for it may have matched before.
    #[must_use]
    pub fn filter(mut self, filter: Option<Predicate>) -> Self {
        self.filter = filter;
        self
    }

    /// Goes on behind what was delivered before, whatever the options say of where to start.
    #[must_use]
    pub fn position(mut self, position: Option<Position>) -> Self {
        self.position = position;
        self
    }

    /// With the sequence number of every record.
    #[must_use]
    pub fn sequence_numbers(mut self) -> Self {
        self.sequence_numbers = true;
        self
    }

    /// Ends behind the snapshot that is the latest one now, rather than waiting for others.
    #[must_use]
    pub fn until_now(mut self) -> Self {
        self.waits = false;
        self
    }

    /// Opens the stream. Where it starts is looked up with its first batch.
    ///
    /// # Errors
    /// `Invalid` for options or a filter that contradict the table, `Unsupported` naming the feature.
    pub async fn open(self) -> Result<ChangeStream> {
        let Self { table, fields, filter, position, sequence_numbers, waits, member } = self;
        let options = table.options();
        let follow = Follow::of(&table)?;
        let unmatched = if follow.upserts() { Unmatched::Deleted } else { Unmatched::Dropped };
        let columns = Columns::new(&table, &fields);
        let mut read = table.read().fields(fields).filter(filter.clone()).unmatched(unmatched);
        if sequence_numbers {
            read = read.sequence_numbers();
        }
        let read = read.build()?;
        let mut scan = table.scan();
        // What is told as a deletion must be read, whatever its values; the rest is left out by the read.
        if let Some(filter) = filter {
            scan = scan.filter(filter);
        }
        if let Some(bucket) = options.scan_bucket()? {
            scan = scan.buckets(vec![bucket]);
        }
        let millis = |time: std::time::Duration| i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
        let pace = Pace {
            interval_millis: u64::try_from(millis(options.discovery_interval()?)).unwrap_or(0).max(1),
            delay_millis: options.streaming_read_delay()?.map(millis),
            bound: options.scan_bounded_watermark()?,
            waits,
        };
        let news = table.commits().listen();
        let last = match waits {
            true => None,
            false => Some(Snapshots::new(&table).latest_id().await?.unwrap_or(SnapshotId(0))),
        };
        let schema = read.changes_schema().clone();
        let walk = Walk {
            schema: schema.clone(),
            told: position.clone(),
            table,
            columns,
            scan,
            read,
            follow,
            pace,
            position,
            last,
            news,
            reading: None,
            committed: None,
            looks: 0,
            ended: false,
            member,
        };
        let changes = futures::stream::try_unfold(walk, |mut walk| async move {
            let next = walk.next().await?;
            Ok::<_, Error>(next.map(|changes| (changes, walk)))
        });
        Ok(ChangeStream { schema, changes: Box::pin(changes) })
    }
}

/// A stream of rows and changes. Dropping it ends it; its last error is its end.
pub struct ChangeStream {
    schema: SchemaRef,
    changes: BoxStream<'static, Result<Changes>>,
}

impl ChangeStream {
    /// Schema of the rows: the columns asked for, `_SEQUENCE_NUMBER` where asked for, `_VALUE_KIND` last, the bytes of
    /// [`RowKind`](linn_format::types::RowKind).
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }
}

impl Stream for ChangeStream {
    type Item = Result<Changes>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.changes.as_mut().poll_next(cx)
    }
}

impl fmt::Debug for ChangeStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChangeStream").field("schema", &self.schema).finish_non_exhaustive()
    }
}
