//! Splits of two states to compare: which files cannot differ, and which buckets must be compared together.
//!
//! A file that both states have, with the same deleted rows, is left out only where no other file of either state can change
//! what its rows are merged into: no file that differs has a key of its range, or columns of its rows.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use linn_format::file::DataFileMeta;
use linn_format::row::BinaryRow;
use linn_format::snapshot::Snapshot;
use linn_format::{Error, Result};

use super::group::{Bucket, group};
use super::pack::{Group, Packing};
use super::plan::Part;
use super::vector::Vectors;
use super::{Content, DeletionFile, Plan, Scan, Sides, Split};
use crate::file::{deleted, row_groups};
use crate::merge::{KeyBound, KeyOrder};
use crate::table::Table;

/// A bucket in both states.
struct Pair {
    partition: BinaryRow,
    bucket: i32,
    sides: [State; 2],
}

/// A bucket in one state.
#[derive(Default)]
struct State {
    total_buckets: Option<i32>,
    files: Vec<Arc<DataFileMeta>>,
    /// Deletion vectors by file.
    vectors: HashMap<String, DeletionFile>,
}

impl Scan {
    /// Plans how the rows of `to` differ from those of `from`, or from no rows, whatever compactions did to them in between. Rows of level 0 and
    /// rows that a batch read leaves to compactions count.
    ///
    /// # Errors
    /// As [`Scan::plan`].
    pub async fn plan_difference(&self, from: Option<&Snapshot>, to: &Snapshot) -> Result<Plan> {
        let table = &self.table;
        if table.data_evolves()? && table.options().deletion_vectors_enabled()? {
            let what = "feature: data evolution with deletion vectors";
            return Err(Error::unsupported(what).with("table", table.name()));
        }
        let mut whole = self.clone().every_level();
        if table.schema().is_primary_key_table() {
            // A key that one state hides from the filter would seem to be gone from it.
            let keys: HashSet<i32> = table
                .schema()
                .primary_keys
                .iter()
                .filter_map(|name| table.schema().field(name).map(|field| field.id))
                .collect();
            whole.filter = whole.filter.project(|id| keys.contains(&id));
        }
        let before = match from {
            Some(from) => whole.state(from).await?,
            None => (Vec::new(), Vectors::default()),
        };
        let mut pairs = pairs(before, whole.state(to).await?);
        for pair in &mut pairs {
            pair.without_common(table).await?;
        }
        let compared_as_one = as_one(table, &pairs)?;
        pairs.retain(|pair| pair.sides.iter().any(|side| !side.files.is_empty()));
        let mut units: BTreeMap<usize, Vec<Pair>> = BTreeMap::new();
        let mut first: HashMap<Option<BinaryRow>, usize> = HashMap::new();
        for (at, pair) in pairs.into_iter().enumerate() {
            let unit = match compared_as_one.of(&pair) {
                Unit::Bucket => at,
                Unit::Partition => *first.entry(Some(pair.partition.clone())).or_insert(at),
                Unit::Table => *first.entry(None).or_insert(at),
            };
            units.entry(unit).or_default().push(pair);
        }
        let mut splits = Vec::new();
        for pairs in units.into_values() {
            splits.extend(splits_of(table, to, pairs)?);
        }
        Ok(Plan { snapshot_id: Some(to.id), splits })
    }

    async fn state(&self, snapshot: &Snapshot) -> Result<(Vec<Bucket>, Vectors)> {
        let selector = Arc::new(self.selector(Part::All)?);
        let metas = self.manifests_of(snapshot, Part::All).await?;
        let files = self.files_in(metas, Part::All, self.stats(&selector), &selector).await?;
        Ok((group(&files, &selector).await?, self.vectors_of(snapshot).await?))
    }
}

/// The buckets of both states: those of the later one in its order, then those that it lacks.
fn pairs((before, earlier): (Vec<Bucket>, Vectors), (after, later): (Vec<Bucket>, Vectors)) -> Vec<Pair> {
    let state = |bucket: Bucket, vectors: &Vectors| {
        let found = vectors.of(&(bucket.partition, bucket.bucket), &bucket.files);
        let names = bucket.files.iter().map(|file| file.file_name.clone());
        let vectors = names.zip(found).filter_map(|(name, vector)| Some((name, vector?))).collect();
        State { total_buckets: Some(bucket.total_buckets), files: bucket.files, vectors }
    };
    let mut at: HashMap<(BinaryRow, i32), usize> = HashMap::new();
    let mut pairs: Vec<Pair> = Vec::new();
    for bucket in after {
        let (partition, number) = (bucket.partition.clone(), bucket.bucket);
        at.insert((partition.clone(), number), pairs.len());
        pairs.push(Pair { partition, bucket: number, sides: [State::default(), state(bucket, &later)] });
    }
    for bucket in before {
        let (partition, number) = (bucket.partition.clone(), bucket.bucket);
        let side = state(bucket, &earlier);
        match at.get(&(partition.clone(), number)).and_then(|at| pairs.get_mut(*at)) {
            Some(pair) => pair.sides[0] = side,
            None => pairs.push(Pair { partition, bucket: number, sides: [side, State::default()] }),
        }
    }
    pairs
}

impl Pair {
    /// Leaves out the files that are the same on both sides and that nothing else changes.
    async fn without_common(&mut self, table: &Table) -> Result<()> {
        let [before, after] = &self.sides;
        let place = |file: &DataFileMeta| (file.file_name.clone(), file.level);
        let later: HashSet<_> = after.files.iter().map(|file| place(file)).collect();
        let mut common = HashSet::new();
        for file in before.files.iter().filter(|file| later.contains(&place(file))) {
            let vectors = (before.vectors.get(&file.file_name), after.vectors.get(&file.file_name));
            if same_rows(table, vectors).await? {
                common.insert(file.file_name.clone());
            }
        }
        let (same, other): (Vec<_>, Vec<_>) =
            before.files.iter().chain(&after.files).cloned().partition(|file| common.contains(&file.file_name));
        let changed = changed(table, same, &other)?;
        for side in &mut self.sides {
            side.files.retain(|file| !common.contains(&file.file_name) || changed.contains(&file.file_name));
        }
        Ok(())
    }
}

/// Whether two vectors of a file delete the same rows.
async fn same_rows(table: &Table, vectors: (Option<&DeletionFile>, Option<&DeletionFile>)) -> Result<bool> {
    match vectors {
        (None, None) => Ok(true),
        (Some(a), Some(b)) if a == b => Ok(true),
        (Some(a), Some(b)) if a.meta.cardinality.is_none() || a.meta.cardinality == b.meta.cardinality => {
            Ok(deleted(table, a).await? == deleted(table, b).await?)
        }
        _ => Ok(false),
    }
}

/// Those of the files that both sides have whose rows the others may change.
fn changed(table: &Table, same: Vec<Arc<DataFileMeta>>, other: &[Arc<DataFileMeta>]) -> Result<HashSet<String>> {
    if table.data_evolves()? {
        let others: HashSet<&str> = other.iter().map(|file| file.file_name.as_str()).collect();
        let all: Vec<_> = same.iter().chain(other).cloned().collect();
        let groups = row_groups(&all).into_iter();
        let touched = groups.filter(|group| group.iter().any(|file| others.contains(file.file_name.as_str())));
        return Ok(touched.flatten().map(|file| file.file_name.clone()).collect());
    }
    if !table.schema().is_primary_key_table() {
        return Ok(HashSet::new());
    }
    let order = KeyOrder::of(table.schema());
    let bounds = |file: &DataFileMeta| Ok::<_, Error>((order.bound(&file.min_key)?, order.bound(&file.max_key)?));
    let mut ranges: Vec<(KeyBound, KeyBound)> = other.iter().map(|file| bounds(file)).collect::<Result<_>>()?;
    ranges.sort();
    let mut apart: Vec<(KeyBound, KeyBound)> = Vec::new();
    for (min, max) in ranges {
        match apart.last_mut() {
            Some((_, end)) if min <= *end => *end = max.max(end.clone()),
            _ => apart.push((min, max)),
        }
    }
    let mut found = HashSet::new();
    for file in same {
        let (min, max) = bounds(&file)?;
        let next = apart.partition_point(|(_, end)| *end < min);
        if apart.get(next).is_some_and(|(start, _)| *start <= max) {
            found.insert(file.file_name.clone());
        }
    }
    Ok(found)
}

/// What is compared at once.
#[derive(Clone, Copy)]
enum Unit {
    Bucket,
    Partition,
    Table,
}

/// Where a row may be in another bucket, or another partition, than it was.
enum AsOne {
    All(Unit),
    Partitions(HashSet<BinaryRow>),
}

impl AsOne {
    fn of(&self, pair: &Pair) -> Unit {
        match self {
            Self::All(unit) => *unit,
            Self::Partitions(moved) if moved.contains(&pair.partition) => Unit::Partition,
            Self::Partitions(_) => Unit::Bucket,
        }
    }
}

fn as_one(table: &Table, pairs: &[Pair]) -> Result<AsOne> {
    let schema = table.schema();
    let keyed = schema.is_primary_key_table();
    if keyed && !schema.partition_keys.iter().all(|name| schema.primary_keys.contains(name)) {
        return Ok(AsOne::All(Unit::Table));
    }
    let remembered = table.options().bucket()? == -1;
    if remembered && !keyed {
        return Ok(AsOne::All(Unit::Bucket));
    }
    let mut moved = HashSet::new();
    for pair in pairs {
        let counts = pair.sides.each_ref().map(|side| side.total_buckets);
        let rescaled = matches!(counts, [Some(a), Some(b)] if a != b);
        // Only rows that a file has lost can be in another bucket.
        let rewritten = remembered && !pair.sides[0].files.is_empty();
        if rescaled || rewritten {
            moved.insert(pair.partition.clone());
        }
    }
    // Buckets that only one state has tell the counts of their partition as well.
    let mut counts: HashMap<&BinaryRow, [Option<i32>; 2]> = HashMap::new();
    for pair in pairs {
        let known = counts.entry(&pair.partition).or_default();
        for (known, side) in known.iter_mut().zip(&pair.sides) {
            *known = known.or(side.total_buckets);
        }
    }
    let rescaled = counts.into_iter().filter(|(_, counts)| matches!(counts, [Some(a), Some(b)] if a != b));
    moved.extend(rescaled.map(|(partition, _)| partition.clone()));
    Ok(AsOne::Partitions(moved))
}

/// The splits of buckets that are compared at once.
fn splits_of(table: &Table, to: &Snapshot, pairs: Vec<Pair>) -> Result<Vec<Split>> {
    let Some(head) = pairs.first() else { return Ok(Vec::new()) };
    let (partition, bucket) = (head.partition.clone(), head.bucket);
    let total_buckets = pairs.iter().flat_map(|pair| pair.sides.iter().rev()).find_map(|side| side.total_buckets);
    let total_buckets = total_buckets.unwrap_or_default();
    let mut sides = Sides::default();
    for pair in pairs {
        let (partition, bucket) = (pair.partition, pair.bucket);
        for (state, splits) in pair.sides.into_iter().zip([&mut sides.before, &mut sides.after]) {
            if state.files.is_empty() {
                continue;
            }
            let found = state.files.iter().map(|file| state.vectors.get(&file.file_name).cloned());
            splits.push(Split {
                snapshot_id: to.id,
                partition: partition.clone(),
                bucket,
                total_buckets: state.total_buckets.unwrap_or(total_buckets),
                deletion_files: found.collect(),
                files: state.files.into(),
                raw_convertible: false,
                content: Content::Rows,
            });
        }
    }
    if sides.before.is_empty() && !table.schema().is_primary_key_table() {
        return sides
            .after
            .into_iter()
            .map(|split| apart(table, &split))
            .collect::<Result<Vec<_>>>()
            .map(|all| all.concat());
    }
    let files: Vec<Arc<DataFileMeta>> = sides.after.iter().flat_map(|split| split.files.to_vec()).collect();
    let deletion_files = sides.after.iter().flat_map(|split| split.deletion_files.clone()).collect();
    Ok(vec![Split {
        snapshot_id: to.id,
        partition,
        bucket,
        total_buckets,
        files: files.into(),
        deletion_files,
        raw_convertible: false,
        content: Content::Compared(Arc::new(sides)),
    }])
}

/// Rows without a key that are all new.
fn apart(table: &Table, split: &Split) -> Result<Vec<Split>> {
    let vectors: HashMap<String, Option<DeletionFile>> =
        split.files.iter().map(|file| file.file_name.clone()).zip(split.deletion_files.iter().cloned()).collect();
    let groups = Packing::new(table)?.pack(split.files.to_vec(), |_| true)?;
    let of = |(files, raw_convertible): Group| Split {
        deletion_files: files.iter().map(|file| vectors.get(&file.file_name).cloned().flatten()).collect(),
        files: files.into(),
        raw_convertible,
        content: Content::Changes,
        ..split.clone()
    };
    Ok(groups.into_iter().map(of).collect())
}
