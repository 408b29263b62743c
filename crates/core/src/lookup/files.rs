//! The lookup files of data files: made on first use, or taken from beside the data file, and kept on local disk as
//! long as there is room.
//!
//! A lookup file that is damaged is made anew from its data file; it is never believed.

use std::fmt;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int64Type};
use arrow_array::{ArrayRef, RecordBatch};
use futures::StreamExt;
use linn_format::file::DataFileMeta;
use linn_format::lookup::{BlockCodec, Processor, RemoteName, VERSION, WriteOptions};
use linn_format::options::Options;
use linn_format::row::{CompactOrder, compact_rows};
use linn_format::schema::TableSchema;
use linn_format::types::{DataField, DataType};
use linn_format::{Error, ErrorKind, Result, ResultExt, SchemaId};
use moka::sync::Cache;

use super::Wanted;
use super::local::{LocalFile, LocalWriter};
use crate::file::BucketFiles;
use crate::seam::Env;

/// The lookup files that a writer, or a reader, keeps.
pub(crate) struct LookupFiles {
    kept: Cache<(String, Processor), Arc<LocalFile>>,
    write: WriteOptions,
    remote: Option<i32>,
}

/// The rows that lookup files are made of.
#[derive(Debug)]
pub(crate) struct Shape {
    /// The trimmed key.
    pub(crate) key: Vec<DataField>,
    /// All columns, which values are made of.
    pub(crate) fields: Vec<DataField>,
    /// What values are.
    pub(crate) processor: Processor,
    /// The schema of the columns: lookup files of other schemas are not read.
    pub(crate) schema: SchemaId,
}

impl Shape {
    /// Of what the compactions of a table look up.
    pub(crate) fn of(schema: &TableSchema, wanted: Wanted) -> Self {
        let processor = match (wanted.rows, wanted.places) {
            (true, true) => Processor::PositionAndValue,
            (true, false) => Processor::Value,
            (false, true) => Processor::Position,
            (false, false) => Processor::Empty,
        };
        let key = schema.trimmed_primary_keys().into_iter().cloned().collect();
        Self { key, fields: schema.fields.clone(), processor, schema: schema.id }
    }

    /// The order of keys.
    pub(crate) fn order(&self) -> Result<CompactOrder> {
        CompactOrder::new(&self.key_types())
    }

    pub(crate) fn key_types(&self) -> Vec<DataType> {
        self.key.iter().map(|f| f.data_type.clone()).collect()
    }

    pub(crate) fn types(&self) -> Vec<DataType> {
        self.fields.iter().map(|f| f.data_type.clone()).collect()
    }

    /// Whether rows of this data file are laid out so: those of another schema are in another way.
    fn is_of(&self, file: &DataFileMeta) -> bool {
        !self.processor.has_rows() || file.schema_id == self.schema
    }

    /// What is read of a data file.
    fn read(&self) -> &[DataField] {
        if self.processor.has_rows() { &self.fields } else { &self.key }
    }
}

impl LookupFiles {
    /// As a table's options say.
    ///
    /// # Errors
    /// `Invalid` for a bad option value, `Unsupported` for lzo.
    pub(crate) fn new(options: &Options) -> Result<Self> {
        let disk = options.lookup_cache_disk()?;
        let kept = Cache::builder()
            .weigher(|(name, _): &(String, Processor), file: &Arc<LocalFile>| {
                u32::try_from((file.len() + name.len() as u64).div_ceil(1024)).unwrap_or(u32::MAX)
            })
            .max_capacity(disk / 1024)
            // The cache lets go of its values late; their files must not wait for that.
            .eviction_listener(|_, file, _| file.remove())
            .time_to_idle(options.lookup_cache_retention()?)
            .build();
        let codec = BlockCodec::parse(options.lookup_compression(), options.spill_zstd_level()?)?;
        let write = WriteOptions {
            block_size: usize::try_from(options.cache_page_size()?).unwrap_or(usize::MAX),
            codec,
            bloom_fpp: options.lookup_bloom_fpp()?,
        };
        Ok(Self { kept, write, remote: options.lookup_remote_level()? })
    }

    /// Whether new files get theirs beside them.
    pub(crate) fn are_beside(&self) -> bool {
        self.remote.is_some()
    }

    /// The lookup file of a data file if it is at hand: on local disk, or beside the data file.
    ///
    /// # Errors
    /// What the disk yields.
    pub(crate) async fn at_hand(
        &self,
        env: &Env,
        files: &dyn BucketFiles,
        file: &DataFileMeta,
        shape: &Shape,
    ) -> Result<Option<Arc<LocalFile>>> {
        let key = (file.file_name.clone(), shape.processor);
        if let Some(local) = self.kept.get(&key) {
            return Ok(Some(local));
        }
        let Some(name) = remote_name(file, shape) else { return Ok(None) };
        let bytes = match files.read_extra(file, name).await {
            Ok(bytes) => bytes,
            Err(e) => {
                tracing::warn!(file = name, error = %e, "a lookup file cannot be read; the data file is used instead");
                return Ok(None);
            }
        };
        match LocalFile::copy(env, &bytes, shape.order()?) {
            Ok(local) => Ok(Some(self.keep(key, local))),
            Err(e) if e.kind() == ErrorKind::Corrupt => {
                tracing::warn!(file = name, error = %e, "a lookup file is damaged; the data file is used instead");
                Ok(None)
            }
            Err(e) => Err(e),
        }
    }

    /// The lookup file of a data file, made from it when it is not at hand.
    ///
    /// # Errors
    /// What reading the data file and the disk yield.
    pub(crate) async fn get(
        &self,
        env: &Env,
        files: &dyn BucketFiles,
        file: &Arc<DataFileMeta>,
        shape: &Shape,
    ) -> Result<Arc<LocalFile>> {
        if let Some(local) = self.at_hand(env, files, file, shape).await? {
            return Ok(local);
        }
        self.renew(env, files, file, shape).await
    }

    /// The lookup file of a data file made anew, as the one that was kept turned out to be damaged.
    ///
    /// # Errors
    /// As [`LookupFiles::get`].
    pub(crate) async fn renew(
        &self,
        env: &Env,
        files: &dyn BucketFiles,
        file: &Arc<DataFileMeta>,
        shape: &Shape,
    ) -> Result<Arc<LocalFile>> {
        let local = self.make(env, files, file, shape).await.context("file", &file.file_name)?;
        Ok(self.keep((file.file_name.clone(), shape.processor), local))
    }

    /// Puts a lookup file beside a new data file, where the table asks for it; its metadata names it then. Not beside a file
    /// of an older schema that only changed its level: the rows of a lookup file are read as of the schema of its data file.
    ///
    /// # Errors
    /// As [`LookupFiles::get`], and what the store yields.
    pub(crate) async fn attach(
        &self,
        env: &Env,
        files: &dyn BucketFiles,
        file: Arc<DataFileMeta>,
        shape: &Shape,
    ) -> Result<Arc<DataFileMeta>> {
        let wanted = self.remote.is_some_and(|level| file.level >= level);
        if !wanted || !shape.is_of(&file) || remote_name(&file, shape).is_some() {
            return Ok(file);
        }
        let local = self.get(env, files, &file, shape).await?;
        let name = RemoteName::format(&file.file_name, local.len(), shape.processor);
        files.write_extra(&file, &name, local.bytes()?).await?;
        let mut named = DataFileMeta::clone(&file);
        named.extra_files.push(name);
        Ok(Arc::new(named))
    }

    fn keep(&self, key: (String, Processor), local: LocalFile) -> Arc<LocalFile> {
        let local = Arc::new(local);
        self.kept.insert(key, local.clone());
        // What must make room does so now, not some time.
        self.kept.run_pending_tasks();
        local
    }

    async fn make(
        &self,
        env: &Env,
        files: &dyn BucketFiles,
        file: &Arc<DataFileMeta>,
        shape: &Shape,
    ) -> Result<LocalFile> {
        let entries = u64::try_from(file.row_count).unwrap_or(0);
        let mut writer = LocalWriter::create(env, entries, self.write)?;
        let mut batches = files.read(file, shape.read(), None).await?;
        let (mut position, mut value) = (0u64, Vec::new());
        while let Some(batch) = batches.next().await.transpose()? {
            let rows = Encoded::new(&batch, shape)?;
            for row in 0..batch.num_rows() {
                value.clear();
                let kept = rows.values.as_ref().map_or(&[][..], |v| v.value(row));
                shape.processor.put(kept, position, rows.sequence.value(row), rows.kinds.value(row), &mut value);
                writer.put(rows.keys.value(row), &value)?;
                position += 1;
            }
        }
        writer.finish(shape.order()?)
    }
}

impl Drop for LookupFiles {
    fn drop(&mut self) {
        self.kept.iter().for_each(|(_, file)| file.remove());
    }
}

impl fmt::Debug for LookupFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LookupFiles").field("write", &self.write).field("remote", &self.remote).finish_non_exhaustive()
    }
}

/// The name of the lookup file beside a data file, if there is one that can be used.
fn remote_name<'f>(file: &'f DataFileMeta, shape: &Shape) -> Option<&'f str> {
    let usable = |name: &&String| {
        let parsed = RemoteName::parse(name);
        parsed.is_some_and(|p| p.processor == shape.processor && p.version == VERSION)
    };
    file.extra_files.iter().find(usable).filter(|_| shape.is_of(file)).map(String::as_str)
}

/// A batch of a data file as keys and values.
struct Encoded<'b> {
    keys: arrow_array::BinaryArray,
    values: Option<arrow_array::BinaryArray>,
    sequence: &'b arrow_array::Int64Array,
    kinds: &'b arrow_array::Int8Array,
}

impl<'b> Encoded<'b> {
    fn new(batch: &'b RecordBatch, shape: &Shape) -> Result<Self> {
        let lacks = || Error::internal("a batch for a lookup file lacks a column");
        let read = shape.read();
        let key = |field: &DataField| {
            let at = read.iter().position(|f| f.id == field.id)?;
            batch.columns().get(at).cloned()
        };
        let keys = shape.key.iter().map(key).collect::<Option<Vec<ArrayRef>>>().ok_or_else(lacks)?;
        let values = match shape.processor.has_rows() {
            true => Some(compact_rows(batch.columns().get(..read.len()).ok_or_else(lacks)?, &shape.types())?),
            false => None,
        };
        let (sequence, kinds) = (batch.columns().get(read.len()), batch.columns().get(read.len() + 1));
        Ok(Self {
            keys: compact_rows(&keys, &shape.key_types())?,
            values,
            sequence: sequence.and_then(|c| c.as_primitive_opt::<Int64Type>()).ok_or_else(lacks)?,
            kinds: kinds.and_then(|c| c.as_primitive_opt::<Int8Type>()).ok_or_else(lacks)?,
        })
    }
}
