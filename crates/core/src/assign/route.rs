//! Which partition and bucket each row belongs to, a batch at a time.

use std::collections::HashMap;

use arrow_array::{Array, ArrayRef, Int8Array, RecordBatch, UInt32Array};
use arrow_row::{RowConverter, SortField};
use linn_format::datum::one_nan;
use linn_format::hash::BucketFunction;
use linn_format::row::{BinaryRow, rows_from_columns};
use linn_format::schema::{Bucketing, TableSchema};
use linn_format::types::DataType;
use linn_format::{Error, Result};
use rayon::prelude::*;

/// Rows of one batch that belong to one bucket, in their order.
#[derive(Debug)]
pub(crate) struct Routed {
    /// Partition.
    pub(crate) partition: BinaryRow,
    /// Bucket.
    pub(crate) bucket: i32,
    /// The rows.
    pub(crate) rows: RecordBatch,
    /// Their kinds.
    pub(crate) kinds: Int8Array,
}

/// The partitions of a table's rows, and the buckets where they follow from the rows alone.
#[derive(Debug)]
pub(crate) struct Router {
    partition: Columns,
    key: Columns,
    function: BucketFunction,
    bucketing: Bucketing,
}

/// Some columns of a table.
#[derive(Debug, Clone)]
pub(crate) struct Columns {
    at: Vec<usize>,
    types: Vec<DataType>,
}

/// The partitions of the rows of one batch.
#[derive(Debug)]
pub(crate) struct Partitions {
    /// Number of each row's partition.
    pub(crate) of_row: Vec<u32>,
    /// The partitions by number, in order of first appearance.
    pub(crate) rows: Vec<BinaryRow>,
}

impl Columns {
    /// The columns of these names.
    ///
    /// # Errors
    /// `Invalid` for a name that the table lacks.
    pub(crate) fn of(schema: &TableSchema, names: impl IntoIterator<Item = String>) -> Result<Self> {
        let mut columns = Self { at: Vec::new(), types: Vec::new() };
        for name in names {
            let at = schema.index_of(&name).ok_or_else(|| Error::invalid("no such column").with("column", &name))?;
            columns.at.push(at);
            columns.types.push(schema.fields[at].data_type.clone());
        }
        Ok(columns)
    }

    /// The columns of a batch of the table.
    pub(crate) fn pick(&self, batch: &RecordBatch) -> Vec<ArrayRef> {
        self.at.iter().map(|&c| batch.column(c).clone()).collect()
    }

    /// Where they are in a batch of the table.
    pub(crate) fn places(&self) -> &[usize] {
        &self.at
    }

    /// Their types.
    pub(crate) fn types(&self) -> &[DataType] {
        &self.types
    }
}

impl Router {
    /// The routing of a table.
    ///
    /// # Errors
    /// `Invalid` for a number of buckets that cannot be, and for an append table with buckets and no `bucket-key`.
    pub(crate) fn new(schema: &TableSchema) -> Result<Self> {
        let bucketing = schema.bucketing()?;
        let buckets = bucketing.number();
        let possible = match bucketing {
            Bucketing::Fixed(count) => count > 0,
            Bucketing::Unaware | Bucketing::Dynamic => true,
            Bucketing::Postponed => schema.is_primary_key_table(),
        };
        if !possible {
            return Err(Error::invalid(format!("a table cannot have bucket={buckets}"))
                .with_hint("set it to a number above 0, to -1, or for a table with a primary key to -2"));
        }
        let keys = schema.bucket_keys()?.into_iter().map(|f| f.name.clone()).collect::<Vec<_>>();
        if keys.is_empty() && buckets > 1 {
            return Err(Error::invalid(format!("rows cannot be given one of {buckets} buckets without a key"))
                .with_hint("set 'bucket-key', or 'bucket' to '-1'"));
        }
        Ok(Self {
            partition: Columns::of(schema, schema.partition_keys.clone())?,
            key: Columns::of(schema, keys)?,
            function: BucketFunction::parse(schema.options.bucket_function_word()?)?,
            bucketing,
        })
    }

    /// Number of buckets; −1 for none or dynamic ones, −2 for postponed ones.
    pub(crate) fn buckets(&self) -> i32 {
        self.bucketing.number()
    }

    /// How rows get their buckets.
    pub(crate) fn bucketing(&self) -> Bucketing {
        self.bucketing
    }

    /// Splits a batch by partition and bucket, in order of first appearance.
    pub(crate) fn split(&self, rows: &RecordBatch, kinds: &Int8Array) -> Result<Vec<Routed>> {
        if rows.num_rows() == 0 {
            return Ok(Vec::new());
        }
        let buckets = match self.bucketing {
            // With dynamic buckets the keys have been given theirs.
            Bucketing::Fixed(1) | Bucketing::Unaware | Bucketing::Dynamic => vec![0; rows.num_rows()],
            Bucketing::Postponed => vec![Bucketing::POSTPONED; rows.num_rows()],
            Bucketing::Fixed(many) => self.buckets_of(rows, many)?,
        };
        group(rows, kinds, &self.partitions(rows)?, &buckets)
    }

    /// The bucket of each row where there are so many.
    pub(crate) fn buckets_of(&self, rows: &RecordBatch, count: i32) -> Result<Vec<i32>> {
        self.function.buckets(&self.key.pick(rows), &self.key.types, count)
    }

    /// The partitions of a batch that has rows.
    pub(crate) fn partitions(&self, rows: &RecordBatch) -> Result<Partitions> {
        let (of_row, firsts) = self.numbers(rows)?;
        Ok(Partitions { of_row, rows: self.partition_rows(rows, &firsts)? })
    }

    /// The number of each row's partition, and the first row of each partition.
    fn numbers(&self, rows: &RecordBatch) -> Result<(Vec<u32>, Vec<u32>)> {
        if self.partition.at.is_empty() {
            return Ok((vec![0; rows.num_rows()], vec![0]));
        }
        let columns = self.partition.pick(rows).iter().map(one_nan).collect::<Result<Vec<_>>>()?;
        let fields = columns.iter().map(|c| SortField::new(c.data_type().clone())).collect();
        let encoded = RowConverter::new(fields)?.convert_columns(&columns)?;
        let mut numbers: HashMap<arrow_row::Row<'_>, u32> = HashMap::new();
        let (mut of_row, mut firsts) = (Vec::with_capacity(rows.num_rows()), Vec::new());
        for row in 0..rows.num_rows() {
            let key = encoded.row(row);
            if row > 0 && key == encoded.row(row - 1) {
                of_row.push(of_row[row - 1]);
                continue;
            }
            of_row.push(*numbers.entry(key).or_insert_with(|| {
                firsts.push(row as u32);
                firsts.len() as u32 - 1
            }));
        }
        Ok((of_row, firsts))
    }

    fn partition_rows(&self, rows: &RecordBatch, firsts: &[u32]) -> Result<Vec<BinaryRow>> {
        if self.partition.at.is_empty() {
            return Ok(vec![BinaryRow::empty()]);
        }
        let indices = UInt32Array::from(firsts.to_vec());
        let columns = self
            .partition
            .pick(rows)
            .iter()
            .map(|c| arrow_select::take::take(c, &indices, None))
            .collect::<Result<Vec<_>, _>>()?;
        rows_from_columns(&columns, &self.partition.types)
    }
}

const NO_GROUP: u32 = u32::MAX;

/// The group of each partition and bucket: a table where that has few places for the rows there are, else by hash.
enum Index {
    Table { first: i32, width: usize, places: Vec<u32> },
    Hash(HashMap<(u32, i32), u32>),
}

impl Index {
    fn new(partitions: usize, buckets: &[i32]) -> Self {
        let (first, last) = buckets.iter().fold((i32::MAX, i32::MIN), |(a, b), v| (a.min(*v), b.max(*v)));
        let width = usize::try_from(i64::from(last) - i64::from(first) + 1).unwrap_or(0);
        match partitions.checked_mul(width) {
            Some(places) if places <= buckets.len() => Self::Table { first, width, places: vec![NO_GROUP; places] },
            _ => Self::Hash(HashMap::new()),
        }
    }

    #[inline]
    fn place(&mut self, partition: u32, bucket: i32) -> &mut u32 {
        match self {
            Self::Table { first, width, places } => {
                &mut places[partition as usize * *width + (bucket - *first) as usize]
            }
            Self::Hash(places) => places.entry((partition, bucket)).or_insert(NO_GROUP),
        }
    }
}

/// Splits a batch by partition and bucket, in order of first appearance.
pub(crate) fn group(
    rows: &RecordBatch,
    kinds: &Int8Array,
    partitions: &Partitions,
    buckets: &[i32],
) -> Result<Vec<Routed>> {
    let mut index = Index::new(partitions.rows.len(), buckets);
    let mut groups: Vec<((u32, i32), Vec<u32>)> = Vec::new();
    for (row, (&partition, &bucket)) in partitions.of_row.iter().zip(buckets).enumerate() {
        let place = index.place(partition, bucket);
        if *place == NO_GROUP {
            *place = groups.len() as u32;
            groups.push(((partition, bucket), Vec::new()));
        }
        groups[*place as usize].1.push(row as u32);
    }
    take(rows, kinds, groups, &partitions.rows)
}

fn take(
    rows: &RecordBatch,
    kinds: &Int8Array,
    groups: Vec<((u32, i32), Vec<u32>)>,
    partitions: &[BinaryRow],
) -> Result<Vec<Routed>> {
    let partition = |number: u32| {
        let row = partitions.get(number as usize).cloned();
        row.ok_or_else(|| Error::internal("a partition without a row"))
    };
    if let [((number, bucket), _)] = groups.as_slice() {
        let (rows, kinds) = (rows.clone(), kinds.clone());
        return Ok(vec![Routed { partition: partition(*number)?, bucket: *bucket, rows, kinds }]);
    }
    let routed = groups.into_par_iter().map(|((number, bucket), indices)| {
        let indices = UInt32Array::from(indices);
        let taken = arrow_select::take::take(kinds, &indices, None)?;
        Ok(Routed {
            partition: partition(number)?,
            bucket,
            rows: arrow_select::take::take_record_batch(rows, &indices)?,
            kinds: Int8Array::from(taken.to_data()),
        })
    });
    routed.collect()
}
