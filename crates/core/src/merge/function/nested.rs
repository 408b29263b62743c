//! `nested_partial_update`: rows of an ARRAY<ROW> by nested key, non-null fields overwrite.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StructArray, new_null_array};
use arrow_row::Rows;
use arrow_schema::DataType as ArrowType;
use linn_format::types::arrow_field;
use linn_format::{Error, Result};

use super::element::{ElementSource, Identity, Item, element_type, field_positions, has_key, list_of};
use super::{Fold, Function, FunctionPlan, no_retract};
use crate::merge::source::{Cell, Pick, retain};

/// The function `nested_partial_update`.
pub(super) struct NestedPartial {
    plan: FunctionPlan,
    data_type: ArrowType,
    key: Vec<usize>,
    width: usize,
    identity: Identity,
    sources: Vec<(ElementSource, Rows)>,
    lengths: Vec<usize>,
    /// Per field of the nested row: where each element's value comes from.
    fields: Vec<Vec<Option<Item>>>,
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
        Ok(Self {
            plan: plan.clone(),
            identity: Identity::new(&element, key.clone())?,
            data_type,
            key,
            width,
            sources: Vec::new(),
            lengths: Vec::new(),
            fields: vec![Vec::new(); width],
        })
    }

    /// The rows of a value as they are.
    fn value(&self, pick: Pick) -> Option<Vec<Row>> {
        let at = pick.source as usize;
        let positions = self.sources[at].0.positions(pick.row as usize)?;
        Some(
            positions
                .filter(|&p| self.sources[at].0.child.is_valid(p))
                .map(|p| vec![Some((at, p)); self.width])
                .collect(),
        )
    }

    fn identity<'s>(&'s self, row: &Row) -> Option<&'s [u8]> {
        let &field = self.key.first()?;
        let (source, at) = (*row.get(field)?)?;
        Some(self.sources[source].1.row(at).data())
    }

    fn add(&self, acc: Option<Vec<Row>>, input: Option<Vec<Row>>) -> Result<Option<Vec<Row>>> {
        let Some(input) = input else { return Ok(acc) };
        let mut at: HashMap<&[u8], usize> = HashMap::new();
        let mut rows: Vec<Row> = Vec::new();
        for row in acc.unwrap_or_default().into_iter().chain(input) {
            let Some(key) = self.identity(&row) else { continue };
            if !self.counts(&row)? {
                continue;
            }
            let target = *at.entry(key).or_insert_with(|| {
                rows.push(vec![None; self.width]);
                rows.len() - 1
            });
            for (field, item) in row.into_iter().enumerate() {
                if item.is_some_and(|i| self.is_set(field, i)) || (self.key.contains(&field) && item.is_some()) {
                    rows[target][field] = item;
                }
            }
        }
        Ok(Some(rows))
    }

    fn is_set(&self, field: usize, item: Item) -> bool {
        self.sources[item.0].0.child.as_struct_opt().is_some_and(|s| s.column(field).is_valid(item.1))
    }

    fn counts(&self, row: &Row) -> Result<bool> {
        let Some((source, at)) = self.key.first().and_then(|&f| row[f]) else { return Ok(false) };
        has_key(&self.sources[source].0.child, &self.key, at, self.plan.options.null_key)
    }
}

impl Function for NestedPartial {
    fn add_source(&mut self, column: &ArrayRef) -> Result<()> {
        let source = ElementSource::new(column)?;
        let keys = self.identity.encode(&source.child)?;
        self.sources.push((source, keys));
        Ok(())
    }

    fn retain_sources(&mut self, keep: &[usize]) {
        retain(&mut self.sources, keep);
    }

    fn fold(&mut self, folds: &[Fold]) -> Result<Cell> {
        let mut acc: Option<Vec<Row>> = None;
        for &fold in folds {
            acc = match fold {
                Fold::Add(pick) => self.add(acc, self.value(pick))?,
                Fold::AddLate(pick) => self.add(self.value(pick), acc)?,
                Fold::Retract(_) if self.plan.options.ignore_retract => acc,
                Fold::Retract(_) => return Err(no_retract(&self.plan)),
            };
        }
        let Some(rows) = acc else { return Ok(Cell::Null) };
        self.lengths.push(rows.len());
        for row in rows {
            for (field, item) in row.into_iter().enumerate() {
                self.fields[field].push(item);
            }
        }
        Ok(Cell::Computed(self.lengths.len() as u32 - 1))
    }

    fn computed(&mut self) -> Result<Option<ArrayRef>> {
        let lengths = std::mem::take(&mut self.lengths);
        if lengths.is_empty() {
            return Ok(None);
        }
        let ArrowType::Struct(types) = element_type(&self.data_type)?.data_type().clone() else {
            return Err(Error::internal("elements of a nested table are not rows"));
        };
        let mut columns = Vec::with_capacity(self.width);
        for (field, items) in self.fields.iter_mut().enumerate() {
            let null = new_null_array(types[field].data_type(), 1);
            let mut arrays: Vec<&dyn Array> = Vec::with_capacity(self.sources.len() + 1);
            for (source, _) in &self.sources {
                let rows =
                    source.child.as_struct_opt().ok_or_else(|| Error::internal("nested rows are not structs"))?;
                arrays.push(rows.column(field).as_ref());
            }
            arrays.push(null.as_ref());
            let index: Vec<Item> =
                std::mem::take(items).into_iter().map(|i| i.unwrap_or((self.sources.len(), 0))).collect();
            columns.push(arrow_select::interleave::interleave(&arrays, &index)?);
        }
        let rows = StructArray::try_new(types, columns, None)?;
        list_of(&self.data_type, &lengths, Arc::new(rows)).map(Some)
    }
}
