//! What happens to one column between the file's type and the wanted type; fields of ROWs are matched by id at any depth.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, FixedSizeListArray, ListArray, MapArray, StructArray, make_array, new_null_array};
use arrow_schema::{DataType as Arrow, FieldRef, Fields};

use crate::types::{DataField, DataType, Kind};
use crate::{Error, Result, ResultExt, cast};

/// A change of one array.
#[derive(Debug, Clone)]
pub(super) enum Step {
    /// Nothing.
    Same,
    /// A cast of values.
    Cast { from: DataType, to: DataType },
    /// Fields of a struct: for each wanted one its place and change, or none when the file lacks it.
    Row(Vec<Option<(usize, Step)>>),
    /// Elements of a list or vector.
    Elements(Box<Step>),
    /// Keys and values of a map.
    Entries(Box<Step>, Box<Step>),
}

/// The type to ask the file for, and what to do with it.
pub(super) fn plan(wanted: &DataType, stored: &DataType, wanted_id: i32, stored_id: i32) -> Result<(DataType, Step)> {
    if wanted == stored && wanted_id == stored_id {
        return Ok((stored.clone(), Step::Same));
    }
    let asked = |kind| DataType { kind, nullable: stored.nullable };
    let inner = |wanted: &DataType, stored: &DataType| plan(wanted, stored, wanted_id, stored_id);
    Ok(match (&wanted.kind, &stored.kind) {
        (Kind::Row(wanted), Kind::Row(stored)) => {
            let (fields, steps) = row(wanted, stored)?;
            (asked(Kind::Row(fields)), Step::Row(steps))
        }
        (Kind::Array(wanted), Kind::Array(stored)) => {
            let (element, step) = inner(wanted, stored)?;
            (asked(Kind::Array(Box::new(element))), Step::Elements(Box::new(step)))
        }
        (Kind::Vector { element: wanted, length: n }, Kind::Vector { element: stored, length }) if n == length => {
            let (element, step) = inner(wanted, stored)?;
            (asked(Kind::Vector { element: Box::new(element), length: *n }), Step::Elements(Box::new(step)))
        }
        (Kind::Multiset(wanted), Kind::Multiset(stored)) => {
            let (element, step) = inner(wanted, stored)?;
            (asked(Kind::Multiset(Box::new(element))), Step::Entries(Box::new(step), Box::new(Step::Same)))
        }
        (Kind::Map(key, value), Kind::Map(stored_key, stored_value)) => {
            let ((key, key_step), (value, value_step)) = (inner(key, stored_key)?, inner(value, stored_value)?);
            let step = Step::Entries(Box::new(key_step), Box::new(value_step));
            (asked(Kind::Map(Box::new(key), Box::new(value))), step)
        }
        (to, from) if to == from => (stored.clone(), Step::Same),
        _ if cast::can_cast(stored, wanted, true) => {
            (stored.clone(), Step::Cast { from: stored.clone(), to: wanted.clone() })
        }
        _ => return Err(Error::invalid(format!("values of {stored} cannot become {wanted}"))),
    })
}

/// The fields to ask for and the steps of the wanted ones. A ROW of which nothing is wanted any more is read as it is, so
/// that its nulls are known.
fn row(wanted: &[DataField], stored: &[DataField]) -> Result<(Vec<DataField>, Vec<Option<(usize, Step)>>)> {
    let (mut fields, mut steps) = (Vec::new(), Vec::new());
    for field in wanted {
        let Some(found) = stored.iter().find(|f| f.id == field.id) else {
            steps.push(None);
            continue;
        };
        let (asked, step) =
            plan(&field.data_type, &found.data_type, field.id, found.id).context("field", &field.name)?;
        steps.push(Some((fields.len(), step)));
        fields.push(DataField { data_type: asked, ..found.clone() });
    }
    if fields.is_empty() {
        fields.extend(stored.first().cloned());
    }
    Ok((fields, steps))
}

impl Step {
    /// The array as `to`, the Arrow type of the wanted column.
    pub(super) fn apply(&self, array: &ArrayRef, to: &Arrow) -> Result<ArrayRef> {
        if matches!(self, Self::Same) && array.data_type() == to {
            return Ok(Arc::clone(array));
        }
        match (self, to) {
            (Self::Cast { from, to: wanted }, _) => {
                let array = cast::cast(array, from, wanted)?;
                if array.data_type() == to { Ok(array) } else { relabel(&array, to) }
            }
            (Self::Row(steps), Arrow::Struct(fields)) => row_array(array.as_struct(), steps, fields),
            (Self::Elements(step), Arrow::List(element)) => {
                let list = array.as_list::<i32>();
                let values = step.apply(list.values(), element.data_type())?;
                let nulls = list.nulls().cloned();
                Ok(Arc::new(ListArray::try_new(Arc::clone(element), list.offsets().clone(), values, nulls)?))
            }
            (Self::Elements(step), Arrow::FixedSizeList(element, length)) => {
                let list = array.as_fixed_size_list();
                let values = step.apply(list.values(), element.data_type())?;
                let nulls = list.nulls().cloned();
                Ok(Arc::new(FixedSizeListArray::try_new(Arc::clone(element), *length, values, nulls)?))
            }
            (Self::Entries(key, value), Arrow::Map(entries, _)) => map_array(array.as_map(), key, value, entries),
            _ => relabel(array, to),
        }
    }
}

fn row_array(array: &StructArray, steps: &[Option<(usize, Step)>], fields: &Fields) -> Result<ArrayRef> {
    if fields.is_empty() {
        return Ok(Arc::new(StructArray::new_empty_fields(array.len(), array.nulls().cloned())));
    }
    let (mut columns, mut labels) = (Vec::with_capacity(fields.len()), Vec::with_capacity(fields.len()));
    for (field, step) in fields.iter().zip(steps) {
        let column = match step {
            None => new_null_array(field.data_type(), array.len()),
            Some((at, step)) => {
                let column =
                    array.columns().get(*at).ok_or_else(|| Error::internal("a ROW was read with too few fields"))?;
                step.apply(column, field.data_type()).context("field", field.name())?
            }
        };
        columns.push(column);
        labels.push(Arc::clone(field));
    }
    Ok(Arc::new(StructArray::try_new(labels.into(), columns, array.nulls().cloned())?))
}

fn map_array(array: &MapArray, key: &Step, value: &Step, entries: &FieldRef) -> Result<ArrayRef> {
    let Arrow::Struct(fields) = entries.data_type() else {
        return Err(Error::internal("the entries of an Arrow map are not a struct"));
    };
    let [key_field, value_field] = &fields[..] else {
        return Err(Error::internal("the entries of an Arrow map are not pairs"));
    };
    let keys = key.apply(array.keys(), key_field.data_type())?;
    let values = value.apply(array.values(), value_field.data_type())?;
    let pairs = StructArray::try_new(fields.clone(), vec![keys, values], None)?;
    Ok(Arc::new(MapArray::try_new(Arc::clone(entries), array.offsets().clone(), pairs, array.nulls().cloned(), false)?))
}

/// The same buffers under names, ids and nullability of another type of the same layout.
fn relabel(array: &ArrayRef, to: &Arrow) -> Result<ArrayRef> {
    fn data(array: &arrow_data::ArrayData, to: &Arrow) -> Result<arrow_data::ArrayData> {
        let children: Vec<&Arrow> = match to {
            Arrow::List(f) | Arrow::FixedSizeList(f, _) | Arrow::Map(f, _) => vec![f.data_type()],
            Arrow::Struct(fields) => fields.iter().map(|f| f.data_type()).collect(),
            _ => Vec::new(),
        };
        let children = array.child_data().iter().zip(children).map(|(a, t)| data(a, t)).collect::<Result<Vec<_>>>()?;
        Ok(array.clone().into_builder().data_type(to.clone()).child_data(children).build()?)
    }
    Ok(make_array(data(&array.to_data(), to)?))
}
