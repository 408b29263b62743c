//! What a table's options say of writing.

use std::sync::Arc;

use arrow_ipc::CompressionType;
use linn_format::options::ChangelogProducer;
use linn_format::options::table::write;
use linn_format::schema::TableSchema;
use linn_format::{Error, Result};

use crate::compact;
use crate::merge::{KeyOrder, MergeSpec, Ranks, Retractions, View};
use crate::seam::Env;
use crate::spill::spill_compression;

/// Everything the writers of the buckets of one table share.
pub(crate) struct Settings {
    /// The seams.
    pub(crate) env: Env,
    /// The merge of all columns.
    pub(crate) spec: Arc<MergeSpec>,
    /// The key order.
    pub(crate) order: KeyOrder,
    /// Compaction; `None` for `write-only` tables.
    pub(crate) compaction: Option<Arc<compact::Settings>>,
    /// Number of buckets.
    pub(crate) total_buckets: i32,
    /// Whether the input is written to changelog files.
    pub(crate) input_changelog: bool,
    /// Whether a commit waits for compactions: `commit.force-compact`, or because they look up and `lookup-wait`.
    pub(crate) wait_compact: bool,
    /// Codec of spill files.
    pub(crate) spill_compression: Option<CompressionType>,
    /// Rows in a batch.
    pub(crate) batch_size: usize,
    spillable: bool,
    max_spills: usize,
    max_spill_bytes: u64,
    /// Whether all rows of a commit get its snapshot as their sequence number.
    snapshot_ordering: bool,
}

impl Settings {
    /// The settings of a primary-key table.
    ///
    /// # Errors
    /// `Invalid` for a bad option value.
    pub(crate) fn of(schema: &TableSchema, env: &Env, total_buckets: i32) -> Result<Self> {
        let options = &schema.options;
        let spill_compression = spill_compression(options)?;
        let compaction = compact::Settings::of(schema)?;
        if options.snapshot_ordering()? && !options.write_only()? {
            // Before the commit it is not known which snapshot the rows will be in.
            return Err(Error::invalid(
                "a writer that compacts cannot order by snapshots (sequence.snapshot-ordering)",
            )
            .with_hint("write with write-only = 'true', and compact in a job of its own"));
        }
        Ok(Self {
            env: env.clone(),
            spec: Arc::new(MergeSpec::of(schema, &schema.fields)?),
            order: KeyOrder::of(schema),
            batch_size: compaction.batch_size,
            compaction: (!options.write_only()?).then(|| Arc::new(compaction)),
            total_buckets,
            input_changelog: options.changelog_producer()? == ChangelogProducer::Input,
            wait_compact: options.commit_force_compact()? || options.wait_for_lookup()?,
            spill_compression,
            snapshot_ordering: options.snapshot_ordering()?,
            spillable: options.write_buffer_spillable()?,
            max_spills: usize::try_from(options.require(&write::LOCAL_SORT_MAX_NUM_FILE_HANDLES)?).unwrap_or(0),
            max_spill_bytes: options.require(&write::WRITE_BUFFER_SPILL_MAX_DISK_SIZE)?,
        })
    }

    /// What a flush sees of its keys. Where all rows of a commit get one sequence number they would have no order in two files,
    /// so there they are merged as if nothing was older.
    pub(crate) fn view(&self, ranks: Ranks) -> View {
        match self.snapshot_ordering {
            true => View::whole(Retractions::All),
            false => View::part(ranks),
        }
    }

    /// Whether a buffer that has so many spills of so many bytes may spill once more. The input of changelog tables is
    /// not spilled, as a spill holds it merged.
    pub(crate) fn may_spill(&self, spills: usize, bytes: u64) -> bool {
        self.spillable && !self.input_changelog && spills < self.max_spills && bytes < self.max_spill_bytes
    }
}
