//! `collect`, `merge_map`, `merge_map_with_keytime`, `nested_update`: functions whose values are lists of elements picked from
//! the sources.
//!
//! Results keep the order in which elements first appeared; the reference's order is that of its hash tables.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StringArray};
use arrow_buffer::NullBuffer;
use arrow_row::Rows;
use arrow_schema::DataType as ArrowType;
use linn_format::types::arrow_field;
use linn_format::{Error, Result};

use super::element::{ElementSource, Item, element_type, field_positions, has_key};
use super::identity::{Id, Identity, Ids};
use super::lists::Lists;
use super::table::Table;
use super::{Computed, Fold, FoldError, Folds, Function, FunctionPlan, key_by_key, no_retract};
use crate::merge::source::{Cell, Pick, retain};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    Collect,
    MergeMap,
    MergeMapWithKeyTime,
    NestedUpdate,
}

/// A function over elements.
pub(super) struct Elements {
    reader: Reader,
    made: Lists,
}

/// The sources, and how their elements are put together.
struct Reader {
    plan: FunctionPlan,
    rule: Rule,
    sources: Vec<Source>,
    /// What makes two elements the same: all of it, a map's key, or the nested key.
    identity: Identity,
    order: Option<Identity>,
}

struct Source {
    elements: ElementSource,
    ids: Ids,
    /// Which elements have all of their nested key; `None` when all have.
    filled: Option<NullBuffer>,
    order: Option<Rows>,
    times: Option<Times>,
}

/// The key times of map entries, and which entries have a row.
struct Times {
    rows: Option<NullBuffer>,
    times: StringArray,
}

impl Elements {
    /// Starts one of the functions.
    pub(super) fn new(plan: &FunctionPlan) -> Result<Self> {
        let rule = match plan.function.as_str() {
            "collect" => Rule::Collect,
            "merge_map" => Rule::MergeMap,
            "merge_map_with_keytime" => Rule::MergeMapWithKeyTime,
            _ => Rule::NestedUpdate,
        };
        let data_type = arrow_field(&plan.field)?.data_type().clone();
        let element = element_type(&data_type)?.data_type().clone();
        let options = &plan.options;
        let identity = match rule {
            Rule::MergeMap | Rule::MergeMapWithKeyTime => vec![0],
            Rule::Collect => Vec::new(),
            Rule::NestedUpdate => field_positions(&element, &options.nested_key)?,
        };
        let order = match rule {
            Rule::NestedUpdate if !options.nested_sequence.is_empty() => {
                Some(Identity::new(&element, field_positions(&element, &options.nested_sequence)?)?)
            }
            _ => None,
        };
        if rule == Rule::MergeMapWithKeyTime {
            check_key_time(&element, options.time_field.as_deref())?;
        }
        let reader = Reader {
            plan: plan.clone(),
            rule,
            sources: Vec::new(),
            identity: Identity::new(&element, identity)?,
            order,
        };
        Ok(Self { reader, made: Lists::default() })
    }
}

impl Reader {
    /// The elements of a value; `None` when it is null.
    fn value(&self, pick: Pick) -> Option<impl Iterator<Item = Item> + use<>> {
        let source = pick.source as usize;
        let positions = self.sources[source].elements.positions(pick.row as usize)?;
        Some(positions.map(move |at| (source, at)))
    }

    fn is_null(&self, item: Item) -> bool {
        self.sources[item.0].elements.is_null(item.1)
    }

    fn identity(&self, item: Item) -> Id<'_> {
        self.sources[item.0].ids.id(item.1)
    }

    /// The identities of each source's elements, where they are numbers and nothing else.
    fn words(&self) -> Option<Vec<&[u64]>> {
        self.sources.iter().map(|source| source.ids.words()).collect()
    }

    /// The time or sequence of an element, for comparison.
    fn order(&self, item: Item) -> Option<arrow_row::Row<'_>> {
        self.sources[item.0].order.as_ref().map(|rows| rows.row(item.1))
    }

    /// Appends what values come to that arrive after `base`, which is a value already; whether there is any. Elements are the
    /// same when `told` says the same of them.
    fn unite<K: Copy + Eq + Hash, V: Iterator<Item = Item>>(
        &self,
        base: Option<Vec<Item>>,
        mut values: impl Iterator<Item = V>,
        told: &impl Fn(Item) -> K,
        table: &mut Table<K>,
        out: &mut Vec<Item>,
    ) -> Result<bool> {
        let Some(first) = values.next() else {
            out.extend(base.iter().flatten());
            return Ok(base.is_some());
        };
        match self.rule {
            Rule::Collect if !self.plan.options.distinct => {
                out.extend(base.into_iter().flatten());
                out.extend(first);
                values.for_each(|value| out.extend(value));
                return Ok(true);
            }
            Rule::NestedUpdate if self.plan.options.nested_key.is_empty() => {
                self.append(base.unwrap_or_default(), std::iter::once(first).chain(values).flatten(), out);
                return Ok(true);
            }
            _ => table.clear(),
        }
        match self.rule {
            Rule::Collect => {
                let rest = first.chain(values.flatten());
                // Not a loop: chained iterators are quicker when they drive.
                base.into_iter().flatten().chain(rest).for_each(|item| {
                    let key = told(item);
                    if table.place(key).is_none() {
                        table.push(key, item);
                    }
                });
            }
            Rule::NestedUpdate => {
                self.upsert(base.into_iter().flatten(), usize::MAX, told, table)?;
                let limit = self.plan.options.count_limit.unwrap_or(usize::MAX);
                self.upsert(first.chain(values.flatten()), limit, told, table)?;
            }
            Rule::MergeMap | Rule::MergeMapWithKeyTime => match (base, values.next()) {
                (None, None) => {
                    // Alone it stays as it is.
                    out.extend(first);
                    return Ok(true);
                }
                (Some(base), second) => {
                    base.into_iter().for_each(|item| table.put(told(item), item));
                    self.put_all(first.chain(second.into_iter().chain(values).flatten()), told, table)?;
                }
                (None, Some(second)) => {
                    first.for_each(|item| table.put(told(item), item));
                    self.put_all(second.chain(values.flatten()), told, table)?;
                }
            },
        }
        out.extend(table.items());
        Ok(true)
    }

    fn put_all<K: Copy + Eq + Hash>(
        &self,
        mut items: impl Iterator<Item = Item>,
        told: &impl Fn(Item) -> K,
        table: &mut Table<K>,
    ) -> Result<()> {
        if self.rule == Rule::MergeMap {
            items.for_each(|item| table.put(told(item), item));
            return Ok(());
        }
        items.try_for_each(|item| {
            let key = told(item);
            match (self.time(item)?, table.place(key)) {
                (Time::Removed, _) => table.remove(key),
                (Time::Unknown, _) => {}
                (Time::At(_), None) => table.push(key, item),
                (Time::At(new), Some(place)) => match table.at(place).map(|old| self.time(old)).transpose()? {
                    Some(Time::At(old)) if new <= old => {}
                    _ => table.set(place, item),
                },
            }
            Ok(())
        })
    }

    fn time(&self, item: Item) -> Result<Time<'_>> {
        let times = self.sources[item.0].times.as_ref().ok_or_else(|| Error::internal("map values without times"))?;
        Ok(if times.rows.as_ref().is_some_and(|rows| rows.is_null(item.1)) {
            Time::Removed
        } else if times.times.is_null(item.1) {
            Time::Unknown
        } else {
            Time::At(times.times.value(item.1))
        })
    }

    fn append(&self, base: Vec<Item>, items: impl Iterator<Item = Item>, out: &mut Vec<Item>) {
        let limit = self.plan.options.count_limit.unwrap_or(usize::MAX);
        let room = limit.saturating_sub(base.len());
        if room == 0 {
            out.extend(base);
            return;
        }
        out.extend(base.into_iter().filter(|&item| !self.is_null(item)));
        out.extend(items.filter(|&item| !self.is_null(item)).take(room));
    }

    fn upsert<K: Copy + Eq + Hash>(
        &self,
        mut items: impl Iterator<Item = Item>,
        limit: usize,
        told: &impl Fn(Item) -> K,
        table: &mut Table<K>,
    ) -> Result<()> {
        items.try_for_each(|item| {
            if self.is_null(item) || !self.has_key(item)? {
                return Ok(());
            }
            let key = told(item);
            match table.place(key) {
                Some(place) => {
                    let is_older = |old: Item| self.order.is_some() && self.order(item) < self.order(old);
                    if !table.at(place).is_some_and(is_older) {
                        table.set(place, item);
                    }
                }
                None if table.len() < limit => table.push(key, item),
                None => {}
            }
            Ok(())
        })
    }

    fn has_key(&self, item: Item) -> Result<bool> {
        has_key(self.sources[item.0].filled.as_ref(), item.1, self.plan.options.null_key)
    }

    /// What the steps of one key come to, with what is late and taken back.
    fn fold(&self, steps: &[Fold]) -> Result<Option<Vec<Item>>> {
        let mut acc: Option<Vec<Item>> = None;
        let value = |pick: Pick| self.value(pick).map(Iterator::collect::<Vec<Item>>);
        for &step in steps {
            acc = match step {
                Fold::Add(pick) => self.add(acc, value(pick))?,
                Fold::AddLate(pick) if self.rule == Rule::Collect => self.add(acc, value(pick))?,
                Fold::AddLate(pick) => self.add(value(pick), acc)?,
                Fold::Retract(_) if self.plan.options.ignore_retract => acc,
                Fold::Retract(pick) => self.retract(acc, value(pick))?,
            };
        }
        Ok(acc)
    }

    fn add(&self, acc: Option<Vec<Item>>, input: Option<Vec<Item>>) -> Result<Option<Vec<Item>>> {
        let mut out = Vec::new();
        let (told, mut table) = (|item| self.identity(item), Table::default());
        let there = self.unite(acc, input.into_iter().map(Vec::into_iter), &told, &mut table, &mut out)?;
        Ok(there.then_some(out))
    }

    fn retract(&self, acc: Option<Vec<Item>>, input: Option<Vec<Item>>) -> Result<Option<Vec<Item>>> {
        let (Some(acc), Some(input)) = (acc.clone(), input) else { return Ok(acc) };
        match self.rule {
            Rule::MergeMapWithKeyTime => Err(no_retract(&self.plan)),
            Rule::Collect => {
                let mut taken: HashMap<Id<'_>, usize> = HashMap::new();
                for item in input {
                    *taken.entry(self.identity(item)).or_default() += 1;
                }
                Ok(Some(acc.into_iter().filter(|&i| !take_one(&mut taken, self.identity(i))).collect()))
            }
            Rule::MergeMap | Rule::NestedUpdate => {
                let nested = self.rule == Rule::NestedUpdate;
                let mut gone = HashSet::new();
                for item in input {
                    if !nested || (!self.is_null(item) && self.has_key(item)?) {
                        gone.insert(self.identity(item));
                    }
                }
                let mut kept = Vec::with_capacity(acc.len());
                for item in acc {
                    let there = !nested || (!self.is_null(item) && self.has_key(item)?);
                    if there && !gone.contains(&self.identity(item)) {
                        kept.push(item);
                    }
                }
                Ok(Some(kept))
            }
        }
    }
}

fn take_one<'a>(taken: &mut HashMap<Id<'a>, usize>, key: Id<'a>) -> bool {
    match taken.get_mut(&key) {
        Some(count) if *count > 0 => {
            *count -= 1;
            true
        }
        _ => false,
    }
}

enum Time<'a> {
    Removed,
    Unknown,
    At(&'a str),
}

fn time_position(row: &ArrowType, name: Option<&str>) -> Result<usize> {
    match (row, name) {
        (ArrowType::Struct(fields), None) if fields.len() >= 2 => Ok(fields.len() - 1),
        (ArrowType::Struct(_), Some(name)) => {
            Ok(field_positions(row, &[name.to_owned()])?.first().copied().unwrap_or_default())
        }
        _ => Err(Error::invalid("merge_map_with_keytime takes MAP<key, ROW> with two fields or more")),
    }
}

/// Checks the type of the time field at the start, so that a fold cannot fail on it.
fn check_key_time(entry: &ArrowType, name: Option<&str>) -> Result<()> {
    let ArrowType::Struct(fields) = entry else { return Err(Error::internal("map without entries")) };
    let value = fields.get(1).ok_or_else(|| Error::internal("map without values"))?.data_type();
    let at = time_position(value, name)?;
    match value {
        ArrowType::Struct(row) if *row[at].data_type() == ArrowType::Utf8 => Ok(()),
        _ => Err(Error::invalid("the time field of merge_map_with_keytime is not a STRING")),
    }
}

impl Times {
    fn new(entries: &ArrayRef, name: Option<&str>) -> Result<Self> {
        let entries = entries.as_struct_opt().ok_or_else(|| Error::internal("map without entries"))?;
        let values = entries.columns().get(1).ok_or_else(|| Error::internal("map without values"))?;
        let rows = values.as_struct_opt().ok_or_else(|| Error::internal("map values are not rows"))?;
        let times = rows.column(time_position(rows.data_type(), name)?).as_string_opt::<i32>();
        let times = times.ok_or_else(|| Error::internal("the key time is not a STRING"))?.clone();
        Ok(Self { rows: values.nulls().cloned(), times })
    }
}

impl Lists {
    /// Folds the steps of many keys.
    fn fold_all<K: Copy + Eq + Hash>(
        &mut self,
        reader: &Reader,
        folds: &Folds,
        cells: &mut Vec<Cell>,
        told: &impl Fn(Item) -> K,
    ) -> Result<(), FoldError> {
        let (mut table, in_order) = (Table::default(), folds.adds_only());
        key_by_key(folds, cells, |steps| {
            let there = if in_order || steps.iter().all(|step| matches!(step, Fold::Add(_))) {
                let values = steps.iter().filter_map(|step| reader.value(step.pick()));
                reader.unite(None, values, told, &mut table, self.items())?
            } else {
                let items = reader.fold(steps)?;
                self.items().extend(items.iter().flatten());
                items.is_some()
            };
            Ok(if there { self.close() } else { Cell::Null })
        })
    }
}

impl Function for Elements {
    fn add_source(&mut self, column: &ArrayRef) -> Result<()> {
        let reader = &mut self.reader;
        let elements = ElementSource::new(column)?;
        let child = &elements.child;
        let with_times = reader.rule == Rule::MergeMapWithKeyTime;
        reader.sources.push(Source {
            ids: reader.identity.ids(child)?,
            filled: reader.identity.filled(child),
            order: reader.order.as_ref().map(|order| order.rows(child)).transpose()?,
            times: with_times.then(|| Times::new(child, reader.plan.options.time_field.as_deref())).transpose()?,
            elements,
        });
        Ok(())
    }

    fn retain_sources(&mut self, keep: &[usize]) {
        retain(&mut self.reader.sources, keep);
    }

    fn fold_all(&mut self, folds: &Folds, cells: &mut Vec<Cell>) -> Result<(), FoldError> {
        let Self { reader, made } = self;
        match reader.words() {
            Some(words) => made.fold_all(reader, folds, cells, &|(source, at)| words[source][at]),
            None => made.fold_all(reader, folds, cells, &|item| reader.identity(item)),
        }
    }

    fn computed(&mut self) -> Result<Option<Computed>> {
        Ok(self.made.take().map(Computed::Lists))
    }
}
