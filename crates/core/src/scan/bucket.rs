//! Which buckets a filter leaves: the bucket key is fixed to a few values by equality or IN (spec: format.md C.8).

use std::collections::{HashMap, HashSet};

use linn_format::Result;
use linn_format::datum::{Datum, array_from_datums};
use linn_format::hash::BucketFunction;
use linn_format::predicate::{CompareOp, Predicate};
use linn_format::schema::Bucketing;
use linn_format::types::{DataField, DataType};
use parking_lot::Mutex;

use crate::table::Table;

/// Combinations of values that are worth hashing.
const MAX_KEYS: usize = 1_000;

/// The buckets that are asked for.
#[derive(Debug)]
pub(super) struct Buckets {
    named: Option<HashSet<i32>>,
    keys: Option<Keys>,
    rows: Rows,
}

/// Which rows of a table whose rows may wait for a bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rows {
    /// All: what one snapshot added, as a stream reads it.
    All,
    /// Those that have a bucket.
    Placed,
}

#[derive(Debug)]
struct Keys {
    function: BucketFunction,
    types: Vec<DataType>,
    /// Values of each key, column by column.
    columns: Vec<Vec<Option<Datum>>>,
    by_count: Mutex<HashMap<i32, HashSet<i32>>>,
}

impl Buckets {
    pub(super) fn new(table: &Table, filter: &Predicate, named: Option<&[i32]>, rows: Rows) -> Result<Self> {
        let options = table.options();
        let bucket = options.bucket()?;
        let keys = if bucket > 0 {
            let fields: Vec<DataField> = table.schema().bucket_keys()?.into_iter().cloned().collect();
            let function = BucketFunction::parse(options.bucket_function_word()?)?;
            combine(filter, &fields).map(|columns| Keys {
                function,
                types: fields.iter().map(|f| f.data_type.clone()).collect(),
                columns,
                by_count: Mutex::default(),
            })
        } else {
            None
        };
        Ok(Self { named: named.map(|b| b.iter().copied().collect()), keys, rows })
    }

    /// Whether every bucket is asked for.
    pub(super) fn all(&self) -> bool {
        self.named.is_none() && self.keys.is_none() && self.rows == Rows::All
    }

    /// Whether a manifest with buckets from `min` to `max` may have one that is asked for.
    pub(super) fn may_have(&self, min: Option<i32>, max: Option<i32>) -> bool {
        let (Some(min), Some(max), Some(named)) = (min, max, &self.named) else { return true };
        named.iter().any(|b| (min..=max).contains(b))
    }

    /// Whether a bucket of a partition with `total` buckets is asked for.
    pub(super) fn has(&self, bucket: i32, total: i32) -> Result<bool> {
        let waits = self.rows == Rows::Placed && bucket == Bucketing::POSTPONED;
        if waits || self.named.as_ref().is_some_and(|named| !named.contains(&bucket)) {
            return Ok(false);
        }
        match &self.keys {
            Some(keys) if total > 0 => keys.has(bucket, total),
            _ => Ok(true),
        }
    }
}

impl Keys {
    fn has(&self, bucket: i32, total: i32) -> Result<bool> {
        let mut by_count = self.by_count.lock();
        if let Some(buckets) = by_count.get(&total) {
            return Ok(buckets.contains(&bucket));
        }
        let columns = self.columns.iter().zip(&self.types);
        let columns = columns.map(|(values, t)| array_from_datums(values, t)).collect::<Result<Vec<_>>>()?;
        let buckets: HashSet<i32> = self.function.buckets(&columns, &self.types, total)?.into_iter().collect();
        let has = buckets.contains(&bucket);
        by_count.insert(total, buckets);
        Ok(has)
    }
}

/// All combinations of the values that the filter leaves each column of the bucket key, column by column.
fn combine(filter: &Predicate, fields: &[DataField]) -> Option<Vec<Vec<Option<Datum>>>> {
    if fields.is_empty() {
        return None;
    }
    let parts = filter.clone().conjuncts();
    let choices: Vec<Vec<Datum>> = fields.iter().map(|f| choices(&parts, f.id)).collect::<Option<_>>()?;
    let total = choices.iter().try_fold(1usize, |n, c| n.checked_mul(c.len()))?;
    if total == 0 || total > MAX_KEYS {
        return None;
    }
    let mut repeat = total;
    let columns = choices.iter().map(|values| {
        repeat /= values.len();
        (0..total).map(|row| values.get(row / repeat % values.len()).cloned()).collect()
    });
    Some(columns.collect())
}

/// The values that some part of the filter leaves a column.
fn choices(parts: &[Predicate], id: i32) -> Option<Vec<Datum>> {
    parts.iter().find_map(|part| match part {
        Predicate::Compare { field_id, op: CompareOp::Eq, literal } if *field_id == id => Some(vec![literal.clone()]),
        Predicate::In { field_id, literals, negated: false } if *field_id == id => Some(literals.clone()),
        _ => None,
    })
}
