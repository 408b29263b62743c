//! `nested_partial_update`: rows of an ARRAY<ROW> by nested key, non-null fields overwrite.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StructArray, new_null_array};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType as ArrowType;
use linn_format::types::arrow_field;
use linn_format::{Error, Result};

use super::element::{ElementSource, Item, element_type, field_positions, has_key, list_of};
use super::identity::{Id, Identity, Ids};
use super::table::Table;
use super::{Computed, Fold, FoldError, Folds, Function, FunctionPlan, key_by_key, no_retract};
use crate::merge::source::{Cell, Pick, retain};

/// The function `nested_partial_update`.
pub(super) struct NestedPartial {
    data_type: ArrowType,
    reader: Reader,
    made: Made,
}

/// The sources, and how their rows are put together.
struct Reader {
    plan: FunctionPlan,
    key: Vec<usize>,
    identity: Identity,
    sources: Vec<Source>,
}

struct Source {
    rows: ElementSource,
    /// Null bits of each field of the rows.
    nulls: Vec<Option<NullBuffer>>,
    keys: Ids,
    /// Which rows have all of their key; `None` when all have.
    filled: Option<NullBuffer>,
}

/// The lists since the last chunk.
struct Made {
    /// Where each list ends.
    ends: Vec<usize>,
    /// Per field of the nested row: where each element's value comes from.
    fields: Vec<Vec<Place>>,
}

/// Source and position of a value, as a pick has them; [`NOWHERE`] where it is null.
type Place = (u32, u32);

const NOWHERE: Place = (u32::MAX, 0);

/// The place of a value of an element: there are not more sources and elements than 32 bits count.
#[inline]
fn place((source, at): Item) -> Place {
    (source as u32, at as u32)
}

/// A nested row: where the value of each field comes from.
type Row = Vec<Option<Item>>;

impl NestedPartial {
    /// Starts the function.
    pub(super) fn new(plan: &FunctionPlan) -> Result<Self> {
        if plan.options.nested_key.is_empty() {
            let option = format!("fields.{}.nested-key", plan.field.name);
            return Err(Error::invalid(format!("nested_partial_update needs the option '{option}'")));
        }
        let data_type = arrow_field(&plan.field)?.data_type().clone();
        let element = element_type(&data_type)?.data_type().clone();
        let key = field_positions(&element, &plan.options.nested_key)?;
        let width = match &element {
            ArrowType::Struct(fields) => fields.len(),
            _ => 0,
        };
        let identity = Identity::new(&element, key.clone())?;
        Ok(Self {
            data_type,
            reader: Reader { plan: plan.clone(), key, identity, sources: Vec::new() },
            made: Made { ends: Vec::new(), fields: vec![Vec::new(); width] },
        })
    }
}

impl Reader {
    /// Places of the rows of a value that are there; `None` when it is null.
    fn rows(&self, pick: Pick) -> Option<impl Iterator<Item = Item> + '_> {
        let source = pick.source as usize;
        let elements = &self.sources[source].rows;
        let positions = elements.positions(pick.row as usize)?;
        Some(positions.filter(|&at| !elements.is_null(at)).map(move |at| (source, at)))
    }

    /// The rows of a value as they are.
    fn value(&self, pick: Pick, width: usize) -> Option<Vec<Row>> {
        Some(self.rows(pick)?.map(|item| vec![Some(item); width]).collect())
    }

    fn key_of(&self, item: Item) -> Id<'_> {
        self.sources[item.0].keys.id(item.1)
    }

    /// `acc` and then `input`, row by row of their keys.
    fn add(&self, acc: Option<Vec<Row>>, input: Option<Vec<Row>>) -> Result<Option<Vec<Row>>> {
        let Some(input) = input else { return Ok(acc) };
        let mut table = Table::default();
        let mut rows: Vec<Row> = Vec::new();
        for row in acc.unwrap_or_default().into_iter().chain(input) {
            let Some(place) = self.key.first().and_then(|&field| *row.get(field)?) else { continue };
            if !self.counts(place)? {
                continue;
            }
            let target = self.target(&mut table, place, || {
                rows.push(vec![None; row.len()]);
                rows.len() - 1
            });
            for (field, item) in row.into_iter().enumerate() {
                if item.is_some_and(|item| self.overwrites(field, item)) {
                    rows[target][field] = item;
                }
            }
        }
        Ok(Some(rows))
    }

    /// The place of the row with the key of an element, which `new` makes where there is none.
    fn target<'s>(&'s self, table: &mut Table<Id<'s>>, item: Item, new: impl FnOnce() -> usize) -> usize {
        let key = self.key_of(item);
        match table.place(key).and_then(|place| table.at(place)) {
            Some((_, target)) => target,
            None => {
                let target = new();
                table.push(key, (0, target));
                target
            }
        }
    }

    fn overwrites(&self, field: usize, item: Item) -> bool {
        let nulls = self.sources[item.0].nulls.get(field).and_then(Option::as_ref);
        nulls.is_none_or(|nulls| nulls.is_valid(item.1)) || self.key.contains(&field)
    }

    fn counts(&self, item: Item) -> Result<bool> {
        has_key(self.sources[item.0].filled.as_ref(), item.1, self.plan.options.null_key)
    }

    /// What the steps of one key come to, with what is late.
    fn fold(&self, steps: &[Fold], width: usize) -> Result<Option<Vec<Row>>> {
        let mut acc: Option<Vec<Row>> = None;
        for &step in steps {
            acc = match step {
                Fold::Add(pick) => self.add(acc, self.value(pick, width))?,
                Fold::AddLate(pick) => self.add(self.value(pick, width), acc)?,
                Fold::Retract(_) if self.plan.options.ignore_retract => acc,
                Fold::Retract(_) => return Err(no_retract(&self.plan)),
            };
        }
        Ok(acc)
    }
}

impl Made {
    /// Folds the steps of one key. `table` is only there to be used again.
    fn fold<'s>(&mut self, reader: &'s Reader, steps: &[Fold], table: &mut Table<Id<'s>>) -> Result<Cell> {
        let there = if steps.iter().all(|step| matches!(step, Fold::Add(_))) {
            self.add_all(reader, steps, table)?
        } else {
            let rows = reader.fold(steps, self.fields.len())?;
            for row in rows.iter().flatten() {
                self.fields.iter_mut().zip(row).for_each(|(field, item)| field.push(item.map_or(NOWHERE, place)));
            }
            rows.is_some()
        };
        if !there {
            return Ok(Cell::Null);
        }
        self.ends.push(self.fields.first().map_or(0, Vec::len));
        Ok(Cell::Computed(self.ends.len() as u32 - 1))
    }

    /// Rows that arrive in order go straight to their places.
    fn add_all<'s>(&mut self, reader: &'s Reader, steps: &[Fold], table: &mut Table<Id<'s>>) -> Result<bool> {
        table.clear();
        let mut there = false;
        for rows in steps.iter().filter_map(|step| reader.rows(step.pick())) {
            there = true;
            for item in rows {
                if !reader.counts(item)? {
                    continue;
                }
                let target = reader.target(table, item, || {
                    self.fields.iter_mut().for_each(|field| field.push(NOWHERE));
                    self.fields.first().map_or(0, |field| field.len() - 1)
                });
                for (field, items) in self.fields.iter_mut().enumerate() {
                    if reader.overwrites(field, item) {
                        items[target] = place(item);
                    }
                }
            }
        }
        Ok(there)
    }
}

impl Function for NestedPartial {
    fn add_source(&mut self, column: &ArrayRef) -> Result<()> {
        let rows = ElementSource::new(column)?;
        let keys = self.reader.identity.ids(&rows.child)?;
        let filled = self.reader.identity.filled(&rows.child);
        let fields = rows.child.as_struct_opt().ok_or_else(|| Error::internal("nested rows are not structs"))?;
        let nulls = fields.columns().iter().map(|f| f.logical_nulls().filter(|n| n.null_count() > 0)).collect();
        self.reader.sources.push(Source { rows, nulls, keys, filled });
        Ok(())
    }

    fn retain_sources(&mut self, keep: &[usize]) {
        retain(&mut self.reader.sources, keep);
    }

    fn fold_all(&mut self, folds: &Folds, cells: &mut Vec<Cell>) -> Result<(), FoldError> {
        let mut table = Table::default();
        key_by_key(folds, cells, |steps| self.made.fold(&self.reader, steps, &mut table))
    }

    fn computed(&mut self) -> Result<Option<Computed>> {
        let ends = std::mem::take(&mut self.made.ends);
        if ends.is_empty() {
            return Ok(None);
        }
        let ArrowType::Struct(types) = element_type(&self.data_type)?.data_type().clone() else {
            return Err(Error::internal("elements of a nested table are not rows"));
        };
        let sources = &self.reader.sources;
        let mut columns = Vec::with_capacity(types.len());
        for (field, items) in self.made.fields.iter_mut().enumerate() {
            let next = Vec::with_capacity(items.len());
            let items = std::mem::replace(items, next);
            let null = new_null_array(types[field].data_type(), 1);
            let mut arrays: Vec<&dyn Array> = Vec::with_capacity(sources.len() + 1);
            for source in sources {
                let rows = source.rows.child.as_struct_opt();
                let rows = rows.ok_or_else(|| Error::internal("nested rows are not structs"))?;
                arrays.push(rows.column(field).as_ref());
            }
            // With a null among the sources every value would be looked at for being null.
            if items.contains(&NOWHERE) {
                arrays.push(null.as_ref());
            }
            let item = |&(source, at): &Place| ((source as usize).min(sources.len()), at as usize);
            let index: Vec<Item> = items.iter().map(item).collect();
            columns.push(arrow_select::interleave::interleave(&arrays, &index)?);
        }
        let rows = StructArray::try_new(types, columns, None)?;
        list_of(&self.data_type, ends, Arc::new(rows), None).map(Computed::Values).map(Some)
    }
}
