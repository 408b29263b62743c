//! Lookups of ascending keys as a walk over sorted files: one cursor for each level, which only moves forward.
//!
//! Files between two keys are not opened. What is found comes out as one gather over the batches that it lies in.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::SchemaRef;
use async_trait::async_trait;
use futures::{StreamExt, TryStreamExt};
use linn_format::file::DataFileMeta;
use linn_format::row::{BinaryRow, columns_from_rows};
use linn_format::types::{DataField, DataType};
use linn_format::{BatchStream, Error, Result, ResultExt};

use super::sorted::Sorted;
use super::{Lookup, Marks, mark};
use crate::file::BucketFiles;
use crate::merge::{Found, KeyEncoder, Keys, Older, gallop};
use crate::read::prefetch;
use crate::seam::Env;
use crate::vector::BucketVectors;

/// The files below a compaction, walked in key order.
pub(crate) struct Join {
    opener: Opener,
    /// Lowest level first: what is found there is the newest.
    levels: Vec<Cursor>,
    reading: Reading,
    vectors: Arc<BucketVectors>,
    marks: Marks,
    /// Whether it matters where records lie.
    needs_places: bool,
}

/// How files are opened.
struct Opener {
    files: Arc<dyn BucketFiles>,
    /// Where they are decoded ahead of the merge; `None` when its thread does all.
    ahead: Option<Env>,
}

impl Opener {
    /// The records of a file. Nothing is read before they are asked for, or before a task is that reads ahead.
    fn open(&self, file: &Arc<DataFileMeta>, fields: &Arc<[DataField]>) -> BatchStream {
        let (files, file, fields) = (self.files.clone(), file.clone(), fields.clone());
        let stream = futures::stream::once(async move { files.read(&file, &fields, None).await }).try_flatten().boxed();
        match &self.ahead {
            Some(env) => prefetch(env, stream),
            None => stream,
        }
    }
}

/// What is read of every file.
struct Reading {
    fields: Arc<[DataField]>,
    /// Places of the key among them.
    key: Vec<usize>,
    encoder: KeyEncoder,
    /// Of the records, where they are wanted.
    schema: Option<SchemaRef>,
}

struct Cursor {
    files: Sorted,
    /// The file that is open, or that is opened next.
    file: usize,
    stream: Option<BatchStream>,
    /// Rows of the open file that were streamed.
    streamed: usize,
    batch: Option<Loaded>,
}

struct Loaded {
    batch: RecordBatch,
    keys: Keys,
    /// Position of the first row in the file.
    start: usize,
    at: usize,
    /// Number of the batch among those that the current answer picks from.
    slot: Option<usize>,
}

/// Where a cursor stands that was moved to a key.
enum Seek {
    /// At the first record whose key is not less.
    At,
    /// Before a file whose keys are all greater.
    Before,
    /// Behind all records.
    End,
}

impl Join {
    /// Over the files below a compaction. Where rows do not matter only keys are read.
    pub(crate) fn new(lookup: Lookup) -> Result<Self> {
        let (spec, needs_rows) = (&lookup.spec, lookup.wanted.rows);
        let keys = spec.key_fields();
        let reading = Reading {
            encoder: KeyEncoder::new((0..keys.len()).collect(), &keys, false)?,
            key: if needs_rows { spec.key_columns().to_vec() } else { (0..keys.len()).collect() },
            schema: needs_rows.then(|| spec.input_schema().clone()),
            fields: if needs_rows { spec.read_fields().into() } else { keys.into_iter().cloned().collect() },
        };
        let levels = Sorted::by_level(&lookup.older, &spec.key_fields(), &reading.encoder)?;
        let mut levels: Vec<_> = levels.into_iter().map(Cursor::new).collect();
        let opener = Opener { files: lookup.files.clone(), ahead: lookup.ahead.then(|| lookup.env.clone()) };
        if lookup.ahead {
            let (keys, least, greatest) = bounds(&lookup, &reading.encoder)?;
            let within = |files: &Sorted| files.within(&keys, least?, greatest?);
            levels.iter_mut().for_each(|level| level.begin(&opener, &reading, within(&level.files)));
        }
        Ok(Self {
            opener,
            levels,
            reading,
            vectors: lookup.vectors,
            marks: Marks::new(),
            needs_places: lookup.wanted.places,
        })
    }

    /// Where the records that were found so far lie.
    pub(crate) fn take_marks(&mut self) -> Marks {
        std::mem::take(&mut self.marks)
    }
}

#[async_trait]
impl Older for Join {
    async fn find(&mut self, keys: &[ArrayRef], rows: usize) -> Result<Found> {
        let wanted = self.reading.encoder.encode(keys, rows)?;
        let mut found: Vec<Option<u32>> = vec![None; rows];
        let mut settled = vec![false; rows];
        let mut batches: Vec<RecordBatch> = Vec::new();
        let mut picks: Vec<(usize, usize)> = Vec::new();
        for level in &mut self.levels {
            level.forget_slot();
            for ((key, answer), settled) in found.iter_mut().enumerate().zip(&mut settled).filter(|(_, s)| !**s) {
                if !level.is_at(&wanted, key) {
                    match level.seek(&self.opener, &self.reading, &wanted, key).await? {
                        Seek::End => break,
                        Seek::Before => continue,
                        Seek::At => {}
                    }
                }
                let Some((loaded, file)) = level.current(&wanted, key) else { continue };
                *settled = true;
                let position = (loaded.start + loaded.at) as u64;
                if self.vectors.get(file).is_some_and(|dead| dead.contains(position)) {
                    continue;
                }
                let slot = *loaded.slot.get_or_insert_with(|| {
                    batches.push(loaded.batch.clone());
                    batches.len() - 1
                });
                *answer = Some(picks.len() as u32);
                picks.push((slot, loaded.at));
                if self.needs_places {
                    mark(&mut self.marks, file, position);
                }
            }
        }
        let schema = self.reading.schema.as_ref().filter(|_| !picks.is_empty());
        let records = schema.map(|schema| gather(schema, &batches, &picks)).transpose()?;
        Ok(Found { rows: found, records })
    }
}

/// Keys, and which of them are the least and the greatest of the records that are looked up; `None` where there are none.
fn bounds(lookup: &Lookup, encoder: &KeyEncoder) -> Result<(Keys, Option<usize>, Option<usize>)> {
    let rows: Vec<BinaryRow> =
        lookup.new.iter().flat_map(|file| [file.min_key.clone(), file.max_key.clone()]).collect();
    let types: Vec<DataType> = lookup.spec.key_fields().iter().map(|f| f.data_type.clone()).collect();
    let keys = encoder.encode(&columns_from_rows(&rows, &types)?, rows.len())?;
    let order = |a: &usize, b: &usize| keys.compare(*a, &keys, *b);
    let (least, greatest) = ((0..rows.len()).min_by(order), (0..rows.len()).max_by(order));
    Ok((keys, least, greatest))
}

fn gather(schema: &SchemaRef, batches: &[RecordBatch], picks: &[(usize, usize)]) -> Result<RecordBatch> {
    let column = |c: usize| -> Result<ArrayRef> {
        let columns = batches.iter().map(|b| b.columns().get(c).map(|c| c.as_ref() as &dyn Array));
        let columns: Vec<_> =
            columns.collect::<Option<_>>().ok_or_else(|| Error::internal("a batch of a lookup lacks a column"))?;
        Ok(arrow_select::interleave::interleave(&columns, picks)?)
    };
    let columns = (0..schema.fields().len()).map(column).collect::<Result<Vec<_>>>()?;
    Ok(RecordBatch::try_new(schema.clone(), columns)?)
}

impl Cursor {
    fn new(files: Sorted) -> Self {
        Self { files, file: 0, stream: None, streamed: 0, batch: None }
    }

    /// The batches of an earlier answer are gone.
    fn forget_slot(&mut self) {
        if let Some(loaded) = &mut self.batch {
            loaded.slot = None;
        }
    }

    /// Moves to the first record of the loaded batch whose key is not less; false when there is none.
    fn is_at(&mut self, wanted: &Keys, key: usize) -> bool {
        let Some(loaded) = &mut self.batch else { return false };
        let (keys, rows) = (&loaded.keys, loaded.batch.num_rows());
        loaded.at = gallop(loaded.at, rows, |row| keys.compare(row, wanted, key).is_lt());
        loaded.at < rows
    }

    async fn seek(&mut self, opener: &Opener, reading: &Reading, wanted: &Keys, key: usize) -> Result<Seek> {
        loop {
            if self.is_at(wanted, key) {
                return Ok(Seek::At);
            }
            self.batch = None;
            if self.stream.is_some() && self.files.place(self.file, wanted, key).is_gt() {
                self.leave();
            }
            if let Some(stream) = &mut self.stream {
                match stream.next().await.transpose()? {
                    Some(batch) => self.load(batch, reading)?,
                    None => self.leave(),
                }
                continue;
            }
            let Some(file) = self.files.file(self.file) else { return Ok(Seek::End) };
            match self.files.place(self.file, wanted, key) {
                Ordering::Greater => {
                    self.file += 1;
                    continue;
                }
                Ordering::Less => return Ok(Seek::Before),
                Ordering::Equal => {}
            }
            self.stream = Some(opener.open(file, &reading.fields));
        }
    }

    /// Opens the file at a place, where there is one, before any of its keys is asked for.
    fn begin(&mut self, opener: &Opener, reading: &Reading, at: Option<usize>) {
        let Some(at) = at else { return };
        self.file = at;
        self.stream = self.files.file(at).map(|file| opener.open(file, &reading.fields));
    }

    fn leave(&mut self) {
        self.stream = None;
        self.streamed = 0;
        self.file += 1;
    }

    fn load(&mut self, batch: RecordBatch, reading: &Reading) -> Result<()> {
        let rows = batch.num_rows();
        let columns = reading.key.iter().map(|&c| batch.columns().get(c).cloned()).collect::<Option<Vec<_>>>();
        let columns = columns.ok_or_else(|| Error::internal("a batch of a lookup lacks a key column"))?;
        let keys = reading.encoder.encode(&columns, rows)?;
        if (1..rows).any(|row| keys.compare(row - 1, &keys, row).is_ge()) {
            let file = self.files.file(self.file).map_or("", |f| f.file_name.as_str());
            return Err(Error::corrupt("a data file is not sorted by key")).context("file", file);
        }
        self.batch = Some(Loaded { batch, keys, start: self.streamed, at: 0, slot: None });
        self.streamed += rows;
        Ok(())
    }

    /// The record that the cursor stands at and its file, when it has the key.
    fn current(&mut self, wanted: &Keys, key: usize) -> Option<(&mut Loaded, &str)> {
        let file = self.files.file(self.file)?;
        let loaded = self.batch.as_mut()?;
        let is_it = loaded.keys.compare(loaded.at, wanted, key).is_eq();
        is_it.then_some((loaded, file.file_name.as_str()))
    }
}
