//! Where the rows of a table go: by their own values, or by what the table has of their keys.

use arrow_array::{Int8Array, RecordBatch};
use linn_format::Result;
use linn_format::schema::TableSchema;

use super::route::{Routed, Router, group};
use crate::assign::{DynamicBuckets, Messages};
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
}

impl Routing {
    /// The routing of a table whose rows say their buckets.
    ///
    /// # Errors
    /// As [`Router::new`].
    pub(crate) fn of_rows(schema: &TableSchema) -> Result<Self> {
        Ok(Self { router: Router::new(schema)?, buckets: Buckets::OfRows })
    }

    /// The routing of a table; `restore` unless what it holds is replaced.
    ///
    /// # Errors
    /// As [`Router::new`], and `Invalid` for a bad option value.
    pub(crate) fn of(table: &Table, restore: bool) -> Result<Self> {
        let schema = table.schema();
        let router = Router::new(schema)?;
        let dynamic = schema.is_primary_key_table() && router.buckets() == crate::assign::DYNAMIC;
        if router.buckets() < crate::assign::DYNAMIC {
            return Err(linn_format::Error::unsupported("feature writing to a table with bucket=-2"));
        }
        if dynamic && schema.is_cross_partition() {
            return Err(linn_format::Error::unsupported(
                "feature writing to a table whose primary key lacks partition columns",
            ));
        }
        let buckets = match dynamic {
            true => Buckets::Dynamic(Box::new(DynamicBuckets::new(table, restore)?)),
            false => Buckets::OfRows,
        };
        Ok(Self { router, buckets })
    }

    /// Number of buckets; −1 for none or dynamic ones, −2 for postponed ones.
    pub(crate) fn buckets(&self) -> i32 {
        self.router.buckets()
    }

    /// Splits a batch by partition and bucket.
    pub(crate) async fn split(&mut self, rows: RecordBatch, kinds: Int8Array) -> Result<Vec<Routed>> {
        match &mut self.buckets {
            Buckets::OfRows => self.router.split(&rows, &kinds),
            Buckets::Dynamic(_) if rows.num_rows() == 0 => Ok(Vec::new()),
            Buckets::Dynamic(dynamic) => {
                let partitions = self.router.partitions(&rows)?;
                let buckets = dynamic.assign(&rows, &partitions).await?;
                group(&rows, &kinds, &partitions, &buckets)
            }
        }
    }

    /// Adds to the messages of a commit what says where their keys are.
    ///
    /// # Errors
    /// `Unavailable`; nothing has happened then.
    pub(crate) async fn hand_over(&mut self, messages: &mut Messages) -> Result<()> {
        match &mut self.buckets {
            Buckets::OfRows => Ok(()),
            Buckets::Dynamic(dynamic) => dynamic.hand_over(messages).await,
        }
    }
}
