//! Functions over the elements of ARRAY and MAP columns: `collect`, `merge_map`, `merge_map_with_keytime`,
//! `nested_update`. What they compute are lists of elements picked from the sources, gathered at the end of a chunk.
//!
//! Results keep the order in which elements first appeared; the reference's order is that of its hash tables.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, ListArray, MapArray};
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use arrow_row::{RowConverter, Rows, SortField};
use arrow_schema::{DataType as ArrowType, FieldRef};
use linn_format::types::arrow_field;
use linn_format::{Error, Result};

use super::{Fold, Function, FunctionPlan, NullKey, no_retract};
use crate::merge::source::{Cell, Pick, retain};

/// An element: source and position in the source's child array.
pub(super) type Item = (usize, usize);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    Collect,
    MergeMap,
    MergeMapWithKeyTime,
    NestedUpdate,
}

/// A function over elements.
pub(super) struct Elements {
    plan: FunctionPlan,
    rule: Rule,
    data_type: ArrowType,
    sources: Vec<ElementSource>,
    /// What makes two elements the same: all of it, a map's key, or the nested key; `None` when nothing does.
    identity: Option<Identity>,
    order: Option<Identity>,
    lengths: Vec<usize>,
    items: Vec<Item>,
}

/// One source of a list or map column.
pub(super) struct ElementSource {
    list: ArrayRef,
    offsets: OffsetBuffer<i32>,
    pub(super) child: ArrayRef,
    identity: Option<Rows>,
    order: Option<Rows>,
}

impl ElementSource {
    /// Takes a list or map array apart.
    pub(super) fn new(column: &ArrayRef) -> Result<Self> {
        let (offsets, child) = match column.data_type() {
            ArrowType::List(_) => {
                let list = column.as_list::<i32>();
                (list.offsets().clone(), list.values().clone())
            }
            ArrowType::Map(_, _) => {
                let map = column.as_map();
                (map.offsets().clone(), Arc::new(map.entries().clone()) as ArrayRef)
            }
            other => return Err(Error::internal(format!("an element function over a column of type {other}"))),
        };
        Ok(Self { list: column.clone(), offsets, child, identity: None, order: None })
    }

    /// Positions of the elements of a row; `None` when the row is null.
    pub(super) fn positions(&self, row: usize) -> Option<std::ops::Range<usize>> {
        self.list.is_valid(row).then(|| self.offsets[row] as usize..self.offsets[row + 1] as usize)
    }
}

/// Some columns of the elements, encoded so that equal bytes mean equal values and bytes compare like values.
pub(super) struct Identity {
    fields: Vec<usize>,
    converter: RowConverter,
}

impl Identity {
    /// Of whole elements when `fields` is empty, of these fields of a struct otherwise.
    pub(super) fn new(element: &ArrowType, fields: Vec<usize>) -> Result<Self> {
        let types: Vec<ArrowType> = match element {
            _ if fields.is_empty() => vec![element.clone()],
            ArrowType::Struct(all) => fields.iter().map(|&f| all[f].data_type().clone()).collect(),
            _ => return Err(Error::invalid("elements without fields have no key")),
        };
        let sort: Vec<SortField> = types.into_iter().map(SortField::new).collect();
        if !RowConverter::supports_fields(&sort) {
            return Err(Error::unsupported("comparing elements of this type"));
        }
        Ok(Self { fields, converter: RowConverter::new(sort)? })
    }

    /// Encodes all elements of a source.
    pub(super) fn encode(&self, child: &ArrayRef) -> Result<Rows> {
        let columns = match (self.fields.is_empty(), child.as_struct_opt()) {
            (true, _) => vec![child.clone()],
            (false, Some(rows)) => self.fields.iter().map(|&f| rows.column(f).clone()).collect(),
            (false, None) => return Err(Error::internal("elements of a nested table are not rows")),
        };
        Ok(self.converter.convert_columns(&columns)?)
    }
}

/// The struct type of the elements of an array or map column.
pub(super) fn element_type(data_type: &ArrowType) -> Result<&FieldRef> {
    match data_type {
        ArrowType::List(element) | ArrowType::Map(element, _) => Ok(element),
        _ => Err(Error::invalid("the aggregate function does not take this column type")),
    }
}

/// Positions of named fields in a struct type.
pub(super) fn field_positions(element: &ArrowType, names: &[String]) -> Result<Vec<usize>> {
    let ArrowType::Struct(fields) = element else {
        return Err(Error::invalid("the aggregate function takes ARRAY<ROW> columns"));
    };
    names
        .iter()
        .map(|name| {
            fields
                .iter()
                .position(|f| f.name() == name)
                .ok_or_else(|| Error::invalid(format!("the nested row has no field {name}")))
        })
        .collect()
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
            Rule::MergeMap | Rule::MergeMapWithKeyTime => Some(vec![0]),
            Rule::Collect => Some(Vec::new()),
            Rule::NestedUpdate => Some(field_positions(&element, &options.nested_key)?),
        };
        let order = match rule {
            Rule::NestedUpdate if !options.nested_sequence.is_empty() => {
                Some(Identity::new(&element, field_positions(&element, &options.nested_sequence)?)?)
            }
            Rule::MergeMapWithKeyTime => Some(key_time(&element, options.time_field.as_deref())?),
            _ => None,
        };
        Ok(Self {
            plan: plan.clone(),
            rule,
            identity: identity.map(|fields| Identity::new(&element, fields)).transpose()?,
            data_type,
            sources: Vec::new(),
            order,
            lengths: Vec::new(),
            items: Vec::new(),
        })
    }

    fn value(&self, pick: Pick) -> Option<Vec<Item>> {
        let source = pick.source as usize;
        let positions = self.sources[source].positions(pick.row as usize)?;
        Some(positions.map(|at| (source, at)).collect())
    }

    fn is_null(&self, item: Item) -> bool {
        self.sources[item.0].child.is_null(item.1)
    }

    fn identity(&self, item: Item) -> &[u8] {
        self.sources[item.0].identity.as_ref().map_or(&[], |rows| rows.row(item.1).data())
    }

    /// The time or sequence of an element, for comparison.
    fn order(&self, item: Item) -> Option<arrow_row::Row<'_>> {
        self.sources[item.0].order.as_ref().map(|rows| rows.row(item.1))
    }

    fn add(&self, acc: Option<Vec<Item>>, input: Option<Vec<Item>>) -> Result<Option<Vec<Item>>> {
        let keyed = !self.plan.options.nested_key.is_empty();
        match self.rule {
            Rule::Collect if self.plan.options.distinct => Ok(match (acc, input) {
                (None, None) => None,
                (acc, input) => Some(self.distinct(acc.unwrap_or_default(), input.unwrap_or_default())),
            }),
            Rule::NestedUpdate => match input {
                None => Ok(acc),
                Some(input) if keyed => self.upsert_nested(acc.unwrap_or_default(), input).map(Some),
                Some(input) => Ok(Some(self.append_nested(acc.unwrap_or_default(), input))),
            },
            _ => match (acc, input) {
                (None, one) | (one, None) => Ok(one),
                (Some(mut acc), Some(input)) => match self.rule {
                    Rule::Collect => {
                        acc.extend(input);
                        Ok(Some(acc))
                    }
                    _ => self.put_all(acc, input).map(Some),
                },
            },
        }
    }

    fn distinct(&self, acc: Vec<Item>, input: Vec<Item>) -> Vec<Item> {
        let mut table = Table::default();
        for item in acc.into_iter().chain(input) {
            let key = self.identity(item);
            if table.get(key).is_none() {
                table.put(key, item);
            }
        }
        table.into_items()
    }

    fn put_all(&self, acc: Vec<Item>, input: Vec<Item>) -> Result<Vec<Item>> {
        let mut table = Table::default();
        for item in acc {
            table.put(self.identity(item), item);
        }
        for item in input {
            let key = self.identity(item);
            if self.rule == Rule::MergeMap {
                table.put(key, item);
                continue;
            }
            match (self.time(item)?, table.get(key)) {
                (Time::Removed, _) => table.remove(key),
                (Time::Unknown, _) => {}
                (Time::At(_), None) => table.put(key, item),
                (Time::At(new), Some(old)) => match self.time(old)? {
                    Time::At(old) if new <= old => {}
                    _ => table.put(key, item),
                },
            }
        }
        Ok(table.into_items())
    }

    fn time(&self, item: Item) -> Result<Time<'_>> {
        let entries =
            self.sources[item.0].child.as_struct_opt().ok_or_else(|| Error::internal("map without entries"))?;
        let values = entries.column(1);
        if values.is_null(item.1) {
            return Ok(Time::Removed);
        }
        let rows = values.as_struct_opt().ok_or_else(|| Error::internal("map values are not rows"))?;
        let at = time_position(rows.data_type(), self.plan.options.time_field.as_deref())?;
        let times = rows.column(at).as_string_opt::<i32>().ok_or_else(|| Error::internal("key time is no STRING"))?;
        Ok(if times.is_null(item.1) { Time::Unknown } else { Time::At(times.value(item.1)) })
    }

    fn append_nested(&self, acc: Vec<Item>, input: Vec<Item>) -> Vec<Item> {
        let limit = self.plan.options.count_limit.unwrap_or(usize::MAX);
        if acc.len() >= limit {
            return acc;
        }
        let room = limit - acc.len();
        let mut items: Vec<Item> = acc.into_iter().filter(|&i| !self.is_null(i)).collect();
        items.extend(input.into_iter().filter(|&i| !self.is_null(i)).take(room));
        items
    }

    fn upsert_nested(&self, acc: Vec<Item>, input: Vec<Item>) -> Result<Vec<Item>> {
        let limit = self.plan.options.count_limit.unwrap_or(usize::MAX);
        let mut table = Table::default();
        for (items, limit) in [(acc, usize::MAX), (input, limit)] {
            for item in items {
                if self.is_null(item) || !self.has_key(item)? {
                    continue;
                }
                let key = self.identity(item);
                match table.get(key) {
                    Some(old) if self.order.is_some() && self.order(item) < self.order(old) => {}
                    Some(_) => table.put(key, item),
                    None if table.len() < limit => table.put(key, item),
                    None => {}
                }
            }
        }
        Ok(table.into_items())
    }

    fn has_key(&self, item: Item) -> Result<bool> {
        let Some(identity) = &self.identity else { return Ok(true) };
        has_key(&self.sources[item.0].child, &identity.fields, item.1, self.plan.options.null_key)
    }

    fn retract(&self, acc: Option<Vec<Item>>, input: Option<Vec<Item>>) -> Result<Option<Vec<Item>>> {
        let (Some(acc), Some(input)) = (acc.clone(), input) else { return Ok(acc) };
        match self.rule {
            Rule::MergeMapWithKeyTime => Err(no_retract(&self.plan)),
            Rule::Collect => {
                let mut taken: HashMap<&[u8], usize> = HashMap::new();
                for item in input {
                    *taken.entry(self.identity(item)).or_default() += 1;
                }
                Ok(Some(acc.into_iter().filter(|&i| !take_one(&mut taken, self.identity(i))).collect()))
            }
            Rule::MergeMap | Rule::NestedUpdate => {
                let nested = self.rule == Rule::NestedUpdate;
                let mut gone = std::collections::HashSet::new();
                for item in input {
                    if !nested || (!self.is_null(item) && self.has_key(item)?) {
                        gone.insert(self.identity(item));
                    }
                }
                let mut kept = Vec::with_capacity(acc.len());
                for item in acc {
                    let there = !nested || (!self.is_null(item) && self.has_key(item)?);
                    if there && !gone.contains(self.identity(item)) {
                        kept.push(item);
                    }
                }
                Ok(Some(kept))
            }
        }
    }
}

fn take_one(taken: &mut HashMap<&[u8], usize>, key: &[u8]) -> bool {
    match taken.get_mut(key) {
        Some(count) if *count > 0 => {
            *count -= 1;
            true
        }
        _ => false,
    }
}

/// Whether an element counts, by what is to be done about nulls in its key.
pub(super) fn has_key(child: &ArrayRef, fields: &[usize], at: usize, null_key: NullKey) -> Result<bool> {
    let Some(rows) = child.as_struct_opt() else { return Ok(true) };
    if fields.iter().all(|&f| rows.column(f).is_valid(at)) {
        return Ok(true);
    }
    match null_key {
        NullKey::Merge => Ok(true),
        NullKey::Ignore => Ok(false),
        NullKey::Error => Err(Error::invalid("a nested key has a null field")),
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
fn key_time(entry: &ArrowType, name: Option<&str>) -> Result<Identity> {
    let ArrowType::Struct(fields) = entry else { return Err(Error::internal("map without entries")) };
    let value = fields.get(1).ok_or_else(|| Error::internal("map without values"))?.data_type();
    let at = time_position(value, name)?;
    match value {
        ArrowType::Struct(row) if *row[at].data_type() == ArrowType::Utf8 => Identity::new(entry, vec![0]),
        _ => Err(Error::invalid("the time field of merge_map_with_keytime is not a STRING")),
    }
}

/// Elements by identity in the order of first appearance. A key has few of them as a rule, which are compared one by one.
#[derive(Default)]
struct Table<'a> {
    items: Vec<(&'a [u8], Option<Item>)>,
    /// Places by identity, from [`FEW`] elements on.
    at: HashMap<&'a [u8], usize>,
    removed: usize,
}

/// Elements up to which looking at all of them is faster than a hash of one.
const FEW: usize = 16;

impl<'a> Table<'a> {
    fn len(&self) -> usize {
        self.items.len() - self.removed
    }

    fn place(&self, key: &[u8]) -> Option<usize> {
        if self.items.len() < FEW {
            return self.items.iter().rposition(|(k, item)| item.is_some() && *k == key);
        }
        self.at.get(key).copied()
    }

    fn get(&self, key: &[u8]) -> Option<Item> {
        self.items.get(self.place(key)?)?.1
    }

    fn put(&mut self, key: &'a [u8], item: Item) {
        if let Some(there) = self.place(key).and_then(|at| self.items.get_mut(at)) {
            there.1 = Some(item);
            return;
        }
        self.items.push((key, Some(item)));
        if self.items.len() == FEW {
            let places = self.items.iter().enumerate().filter(|(_, (_, item))| item.is_some());
            self.at = places.map(|(at, (key, _))| (*key, at)).collect();
        } else if self.items.len() > FEW {
            self.at.insert(key, self.items.len() - 1);
        }
    }

    fn remove(&mut self, key: &[u8]) {
        if let Some(at) = self.place(key) {
            self.items[at].1 = None;
            self.removed += 1;
            self.at.remove(key);
        }
    }

    fn into_items(self) -> Vec<Item> {
        self.items.into_iter().filter_map(|(_, item)| item).collect()
    }
}

impl Function for Elements {
    fn add_source(&mut self, column: &ArrayRef) -> Result<()> {
        let mut source = ElementSource::new(column)?;
        source.identity = self.identity.as_ref().map(|i| i.encode(&source.child)).transpose()?;
        if self.rule == Rule::NestedUpdate {
            source.order = self.order.as_ref().map(|o| o.encode(&source.child)).transpose()?;
        }
        self.sources.push(source);
        Ok(())
    }

    fn retain_sources(&mut self, keep: &[usize]) {
        retain(&mut self.sources, keep);
    }

    fn fold(&mut self, folds: &[Fold]) -> Result<Cell> {
        let mut acc: Option<Vec<Item>> = None;
        for &fold in folds {
            acc = match fold {
                Fold::Add(pick) => self.add(acc, self.value(pick))?,
                Fold::AddLate(pick) if self.rule == Rule::Collect => self.add(acc, self.value(pick))?,
                Fold::AddLate(pick) => self.add(self.value(pick), acc)?,
                Fold::Retract(_) if self.plan.options.ignore_retract => acc,
                Fold::Retract(pick) => self.retract(acc, self.value(pick))?,
            };
        }
        Ok(match acc {
            None => Cell::Null,
            Some(items) => {
                self.lengths.push(items.len());
                self.items.extend(items);
                Cell::Computed(self.lengths.len() as u32 - 1)
            }
        })
    }

    fn computed(&mut self) -> Result<Option<ArrayRef>> {
        let (lengths, items) = (std::mem::take(&mut self.lengths), std::mem::take(&mut self.items));
        if lengths.is_empty() {
            return Ok(None);
        }
        let children: Vec<&dyn Array> = self.sources.iter().map(|s| s.child.as_ref()).collect();
        let child = arrow_select::interleave::interleave(&children, &items)?;
        list_of(&self.data_type, &lengths, child).map(Some)
    }
}

/// A list or map array without nulls from the lengths of its rows and their elements.
pub(super) fn list_of(data_type: &ArrowType, lengths: &[usize], child: ArrayRef) -> Result<ArrayRef> {
    let mut offsets = Vec::with_capacity(lengths.len() + 1);
    let mut end = 0i32;
    offsets.push(end);
    for &length in lengths {
        let next = i32::try_from(length).ok().and_then(|length| end.checked_add(length));
        end = next.ok_or_else(|| Error::unsupported("more than 2^31 elements in one batch"))?;
        offsets.push(end);
    }
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    match data_type {
        ArrowType::List(field) => Ok(Arc::new(ListArray::try_new(field.clone(), offsets, child, None)?)),
        ArrowType::Map(field, sorted) => {
            let entries = child.as_struct_opt().ok_or_else(|| Error::internal("map without entries"))?.clone();
            Ok(Arc::new(MapArray::try_new(field.clone(), offsets, entries, None, *sorted)?))
        }
        other => Err(Error::internal(format!("elements of a column of type {other}"))),
    }
}
