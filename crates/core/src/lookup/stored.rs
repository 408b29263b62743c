//! Lookups of a few keys in lookup files, which are made once and asked by many compactions.

use std::sync::Arc;

use arrow_array::{ArrayRef, BinaryArray, Int8Array, Int64Array, RecordBatch};
use arrow_schema::SchemaRef;
use async_trait::async_trait;
use linn_format::file::DataFileMeta;
use linn_format::row::{columns_from_compact, compact_rows};
use linn_format::{Error, ErrorKind, Result, ResultExt};

use super::files::{LookupFiles, Shape};
use super::local::LocalFile;
use super::sorted::Sorted;
use super::{Lookup, Marks, mark};
use crate::file::BucketFiles;
use crate::merge::{Found, KeyEncoder, Older};
use crate::seam::Env;
use crate::vector::BucketVectors;

/// The files below a compaction, asked through their lookup files.
pub(crate) struct Stored {
    env: Env,
    files: Arc<dyn BucketFiles>,
    lookups: Arc<LookupFiles>,
    shape: Arc<Shape>,
    levels: Vec<Sorted>,
    encoder: KeyEncoder,
    /// Of the records, where they are wanted.
    schema: Option<SchemaRef>,
    vectors: Arc<BucketVectors>,
    marks: Marks,
}

/// Values that were found.
#[derive(Default)]
struct Values {
    /// Number of the key of each.
    keys: Vec<usize>,
    /// Position of each in its file, where that is kept.
    positions: Vec<u64>,
    /// Compacted rows one after the other, and where each ends.
    rows: Vec<u8>,
    ends: Vec<usize>,
    sequence: Vec<i64>,
    kinds: Vec<i8>,
}

impl Stored {
    /// Over the files below a compaction, with the lookup files that `lookups` keeps.
    ///
    /// # Errors
    /// `Corrupt` when a key range cannot be read.
    pub(crate) fn new(lookup: Lookup, lookups: Arc<LookupFiles>) -> Result<Self> {
        let keys = lookup.spec.key_fields();
        let encoder = KeyEncoder::new((0..keys.len()).collect(), &keys, false)?;
        Ok(Self {
            env: lookup.env,
            files: lookup.files,
            lookups,
            levels: Sorted::by_level(&lookup.older, &keys, &encoder)?,
            schema: lookup.wanted.rows.then(|| lookup.spec.input_schema().clone()),
            shape: lookup.shape,
            encoder,
            vectors: lookup.vectors,
            marks: Marks::new(),
        })
    }

    /// Where the records that were found so far lie; nothing when positions are not kept.
    pub(crate) fn take_marks(&mut self) -> Marks {
        std::mem::take(&mut self.marks)
    }

    /// Asks the lookup file of a data file for some of the keys. One that turns out to be damaged is made anew.
    async fn ask(&self, file: &Arc<DataFileMeta>, keys: &BinaryArray, asked: &[usize]) -> Result<Values> {
        let (env, shape) = (&self.env, &self.shape);
        let local = self.lookups.get(env, &*self.files, file, shape).await?;
        match Values::find(&local, shape, keys, asked) {
            Err(e) if e.kind() == ErrorKind::Corrupt => {
                tracing::warn!(file = file.file_name, error = %e, "a lookup file is damaged and is written again");
                let local = self.lookups.renew(env, &*self.files, file, shape).await?;
                Values::find(&local, shape, keys, asked)
            }
            values => values,
        }
        .context("file", &file.file_name)
    }
}

#[async_trait]
impl Older for Stored {
    async fn find(&mut self, keys: &[ArrayRef], rows: usize) -> Result<Found> {
        let wanted = self.encoder.encode(keys, rows)?;
        let compact = compact_rows(keys, &self.shape.key_types())?;
        let mut settled = vec![false; rows];
        let mut all = Values::default();
        for level in 0..self.levels.len() {
            let (mut at, mut key) = (0, 0);
            while let Some((file, asked)) =
                self.levels.get(level).and_then(|l| l.keys_of(at, &mut key, &wanted, &settled))
            {
                at += 1;
                if asked.is_empty() {
                    continue;
                }
                let values = self.ask(&file, &compact, &asked).await?;
                values.keys.iter().for_each(|key| settled[*key] = true);
                let dead = self.vectors.get(&file.file_name);
                let alive: Vec<bool> =
                    values.positions.iter().map(|p| dead.is_none_or(|dead| !dead.contains(*p))).collect();
                for (position, _) in values.positions.iter().zip(&alive).filter(|(_, alive)| **alive) {
                    mark(&mut self.marks, &file.file_name, *position);
                }
                all.append(&values, &alive);
            }
        }
        let mut found = Found { rows: vec![None; rows], ..Found::default() };
        for (row, key) in (0..).zip(&all.keys) {
            found.rows[*key] = Some(row);
        }
        if let Some(schema) = self.schema.as_ref().filter(|_| !all.ends.is_empty()) {
            found.records = Some(all.into_batch(schema, &self.shape)?);
        }
        Ok(found)
    }
}

impl Values {
    fn find(local: &LocalFile, shape: &Shape, keys: &BinaryArray, asked: &[usize]) -> Result<Self> {
        let mut values = Self::default();
        local.reader().find_sorted(asked.iter().map(|k| keys.value(*k)), |i, bytes| {
            let value = shape.processor.split(bytes)?;
            values.keys.extend(asked.get(i));
            values.positions.extend(value.position);
            if let Some(row) = value.row {
                values.rows.extend_from_slice(row);
                values.ends.push(values.rows.len());
                values.sequence.push(value.sequence);
                values.kinds.push(value.kind);
            }
            Ok(())
        })?;
        Ok(values)
    }

    /// Takes over the values that are alive; where positions are not kept all are.
    fn append(&mut self, other: &Self, alive: &[bool]) {
        let mut start = 0;
        for (i, key) in other.keys.iter().enumerate() {
            let end = other.ends.get(i).copied();
            if alive.get(i).is_none_or(|alive| *alive) {
                self.keys.push(*key);
                if let Some(row) = end.and_then(|end| other.rows.get(start..end)) {
                    self.rows.extend_from_slice(row);
                    self.ends.push(self.rows.len());
                    self.sequence.extend(other.sequence.get(i));
                    self.kinds.extend(other.kinds.get(i));
                }
            }
            start = end.unwrap_or(start);
        }
    }

    fn into_batch(self, schema: &SchemaRef, shape: &Shape) -> Result<RecordBatch> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let rows: Option<Vec<&[u8]>> = starts.zip(&self.ends).map(|(start, end)| self.rows.get(start..*end)).collect();
        let rows = rows.ok_or_else(|| Error::internal("values of a lookup overlap"))?;
        // Lookup files know nothing of the ids of nested fields, which the merge asks of every source.
        let mut columns = columns_from_compact(rows, &shape.types())?
            .into_iter()
            .zip(schema.fields())
            .map(|(column, field)| match column.data_type() == field.data_type() {
                true => Ok(column),
                false => Ok(arrow_cast::cast(&column, field.data_type())?),
            })
            .collect::<Result<Vec<_>>>()?;
        columns.push(Arc::new(Int64Array::from(self.sequence)));
        columns.push(Arc::new(Int8Array::from(self.kinds)));
        Ok(RecordBatch::try_new(schema.clone(), columns)?)
    }
}
