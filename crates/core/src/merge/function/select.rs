//! Functions that choose one of the values: first, last, greatest, least.

use std::cmp::Ordering;

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Date32Type, Float64Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, StringArray, make_array};
use arrow_buffer::ScalarBuffer;
use arrow_schema::DataType as ArrowType;
use linn_format::types::{DataField, DataType, Kind};
use linn_format::{Error, Result};

use super::{Fold, FoldError, Folds, Function, FunctionPlan, key_by_key, no_retract};
use crate::merge::key::{KeyEncoder, Keys, double_bits};
use crate::merge::source::{Cell, Nulls, Pick, retain};

/// Which value stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Choice {
    Last,
    LastNonNull,
    First,
    FirstNonNull,
    Max,
    Min,
}

/// A function that chooses a value.
pub(super) struct Select {
    plan: FunctionPlan,
    choice: Choice,
    nulls: Nulls,
    order: Option<Order>,
}

/// What greatest and least values are found by. Only values that are not null are compared.
enum Order {
    Encoded(KeyEncoder, Vec<Keys>),
    Text(Vec<StringArray>),
    Int(Vec<ScalarBuffer<i32>>),
    BigInt(Vec<ScalarBuffer<i64>>),
    /// In the order of [`double_bits`].
    Double(Vec<ScalarBuffer<f64>>),
}

impl Order {
    fn of(field: &DataField) -> Result<Self> {
        match field.data_type.kind {
            Kind::Char(_) | Kind::Varchar(_) => return Ok(Self::Text(Vec::new())),
            Kind::Int | Kind::Date => return Ok(Self::Int(Vec::new())),
            Kind::BigInt => return Ok(Self::BigInt(Vec::new())),
            Kind::Double => return Ok(Self::Double(Vec::new())),
            _ => {}
        }
        let data_type = DataType { kind: field.data_type.kind.clone(), nullable: false };
        let field = DataField { data_type, ..field.clone() };
        let encoder = KeyEncoder::new(vec![0], &[&field], false)
            .map_err(|_| Error::invalid("the aggregate function does not take this column type"))?;
        Ok(Self::Encoded(encoder, Vec::new()))
    }

    fn add_source(&mut self, column: &ArrayRef) -> Result<()> {
        match self {
            Self::Encoded(encoder, keys) => {
                let values = without_nulls(column)?;
                keys.push(encoder.encode(std::slice::from_ref(&values), column.len())?);
            }
            Self::Text(arrays) => {
                let array = column.as_string_opt::<i32>();
                arrays.push(array.ok_or_else(|| Error::internal("a STRING column is not Utf8 in a merge"))?.clone());
            }
            Self::Int(arrays) if *column.data_type() == ArrowType::Date32 => arrays.push(values::<Date32Type>(column)?),
            Self::Int(arrays) => arrays.push(values::<Int32Type>(column)?),
            Self::BigInt(arrays) => arrays.push(values::<Int64Type>(column)?),
            Self::Double(arrays) => arrays.push(values::<Float64Type>(column)?),
        }
        Ok(())
    }

    fn retain(&mut self, keep: &[usize]) {
        match self {
            Self::Encoded(_, keys) => retain(keys, keep),
            Self::Text(arrays) => retain(arrays, keep),
            Self::Int(arrays) => retain(arrays, keep),
            Self::BigInt(arrays) => retain(arrays, keep),
            Self::Double(arrays) => retain(arrays, keep),
        }
    }

    fn compare(&self, a: Pick, b: Pick) -> Ordering {
        match self {
            Self::Encoded(_, keys) => {
                keys[a.source as usize].compare(a.row as usize, &keys[b.source as usize], b.row as usize)
            }
            Self::Text(arrays) => text(arrays, a).cmp(text(arrays, b)),
            Self::Int(arrays) => at(arrays, a).cmp(&at(arrays, b)),
            Self::BigInt(arrays) => at(arrays, a).cmp(&at(arrays, b)),
            Self::Double(arrays) => double_bits(at(arrays, a)).cmp(&double_bits(at(arrays, b))),
        }
    }
}

fn text(arrays: &[StringArray], pick: Pick) -> &str {
    arrays[pick.source as usize].value(pick.row as usize)
}

/// The value of a row, whatever it is where the row is null.
#[inline]
fn at<T: Copy>(arrays: &[impl AsRef<[T]>], pick: Pick) -> T {
    arrays[pick.source as usize].as_ref()[pick.row as usize]
}

fn values<T: ArrowPrimitiveType>(column: &ArrayRef) -> Result<ScalarBuffer<T::Native>> {
    let array = column.as_primitive_opt::<T>();
    let array =
        array.ok_or_else(|| Error::internal(format!("a compared column has the type {}", column.data_type())))?;
    Ok(array.values().clone())
}

fn words(keys: &Keys) -> Option<&[u64]> {
    if let Keys::U64(words) = keys { Some(words) } else { None }
}

/// The same values, with something or other where there was a null.
fn without_nulls(column: &ArrayRef) -> Result<ArrayRef> {
    if column.null_count() == 0 {
        return Ok(column.clone());
    }
    Ok(make_array(column.to_data().into_builder().nulls(None).build()?))
}

impl Select {
    pub(super) fn new(plan: &FunctionPlan, choice: Choice) -> Result<Self> {
        let order = match choice {
            Choice::Max | Choice::Min => Some(Order::of(&plan.field)?),
            _ => None,
        };
        Ok(Self { plan: plan.clone(), choice, nulls: Nulls::default(), order })
    }

    fn compare(&self, a: Pick, b: Pick) -> Ordering {
        self.order.as_ref().map_or(Ordering::Equal, |order| order.compare(a, b))
    }

    /// What [`Select::fold`] says of keys whose values all arrive in order.
    fn settle_additions(&self, folds: &Folds, cells: &mut Vec<Cell>) {
        match (self.choice, &self.order) {
            (Choice::Last, _) => self.put(folds, cells, |steps| steps.last().copied()),
            (Choice::First, _) => self.put(folds, cells, |steps| steps.first().copied()),
            (Choice::LastNonNull, _) => {
                self.put(folds, cells, |steps| steps.iter().rev().find(|s| !self.nulls.is_null(s.pick())).copied());
            }
            (Choice::FirstNonNull, _) => {
                self.put(folds, cells, |steps| steps.iter().find(|s| !self.nulls.is_null(s.pick())).copied());
            }
            (Choice::Max | Choice::Min, Some(Order::Text(arrays))) => {
                self.put_extremes(folds, cells, |a, b| text(arrays, a).cmp(text(arrays, b)));
            }
            (Choice::Max | Choice::Min, Some(Order::Int(arrays))) => {
                self.put_extremes(folds, cells, |a, b| at(arrays, a).cmp(&at(arrays, b)));
            }
            (Choice::Max | Choice::Min, Some(Order::BigInt(arrays))) => {
                self.put_extremes(folds, cells, |a, b| at(arrays, a).cmp(&at(arrays, b)));
            }
            (Choice::Max | Choice::Min, Some(Order::Double(arrays))) => {
                let bits = |pick: Pick| double_bits(at(arrays, pick));
                self.put_extremes(folds, cells, |a, b| bits(a).cmp(&bits(b)));
            }
            (Choice::Max | Choice::Min, Some(Order::Encoded(_, keys))) => {
                match keys.iter().map(words).collect::<Option<Vec<_>>>() {
                    Some(words) => {
                        let word = |pick: Pick| words[pick.source as usize][pick.row as usize];
                        self.put_extremes(folds, cells, |a, b| word(a).cmp(&word(b)));
                    }
                    None => self.put_extremes(folds, cells, |a, b| self.compare(a, b)),
                }
            }
            (Choice::Max | Choice::Min, None) => {}
        }
    }

    fn put(&self, folds: &Folds, cells: &mut Vec<Cell>, choose: impl Fn(&[Fold]) -> Option<Fold>) {
        cells.extend(folds.iter().map(|steps| match choose(steps) {
            Some(step) if !self.nulls.is_null(step.pick()) => Cell::Pick(step.pick()),
            _ => Cell::Null,
        }));
    }

    /// The first of the greatest values, the last of the least.
    fn put_extremes(&self, folds: &Folds, cells: &mut Vec<Cell>, compare: impl Fn(Pick, Pick) -> Ordering) {
        let greatest = self.choice == Choice::Max;
        cells.extend(folds.iter().map(|steps| {
            let values = steps.iter().map(|step| step.pick()).filter(|pick| !self.nulls.is_null(*pick));
            let better = |acc: Pick, input: Pick| {
                if (compare(acc, input) == Ordering::Less) == greatest { input } else { acc }
            };
            values.reduce(better).map_or(Cell::Null, Cell::Pick)
        }));
    }

    fn add(&self, acc: Option<Pick>, started: bool, input: Pick) -> Option<Pick> {
        let null = self.nulls.is_null(input);
        match (self.choice, acc) {
            (Choice::Last, _) => (!null).then_some(input),
            (Choice::First, acc) => {
                if started {
                    acc
                } else {
                    (!null).then_some(input)
                }
            }
            (_, acc) if null => acc,
            (Choice::LastNonNull, _) | (_, None) => Some(input),
            (Choice::FirstNonNull, acc) => acc,
            (Choice::Max, Some(acc)) => Some(if self.compare(acc, input) == Ordering::Less { input } else { acc }),
            (Choice::Min, Some(acc)) => Some(if self.compare(acc, input) == Ordering::Less { acc } else { input }),
        }
    }

    fn add_late(&self, acc: Option<Pick>, input: Pick) -> Option<Pick> {
        let null = self.nulls.is_null(input);
        match self.choice {
            Choice::Last => acc,
            Choice::First => (!null).then_some(input),
            Choice::FirstNonNull => {
                if null {
                    acc
                } else {
                    Some(input)
                }
            }
            Choice::LastNonNull => acc.or((!null).then_some(input)),
            Choice::Max | Choice::Min => self.add(acc, true, input),
        }
    }

    /// What the steps of one key come to.
    fn fold(&mut self, folds: &[Fold]) -> Result<Cell> {
        let mut acc: Option<Pick> = None;
        let mut started = false;
        for &fold in folds {
            match fold {
                Fold::Add(pick) => acc = self.add(acc, started, pick),
                Fold::AddLate(pick) => acc = self.add_late(acc, pick),
                Fold::Retract(_) if self.plan.options.ignore_retract => continue,
                Fold::Retract(pick) => match self.choice {
                    Choice::Last if self.plan.function == "primary-key" => acc = Some(pick),
                    Choice::Last => acc = None,
                    Choice::LastNonNull => acc = acc.filter(|_| self.nulls.is_null(pick)),
                    _ => return Err(no_retract(&self.plan)),
                },
            }
            started = true;
        }
        Ok(acc.map_or(Cell::Null, Cell::Pick))
    }
}

impl Function for Select {
    fn add_source(&mut self, column: &ArrayRef) -> Result<()> {
        self.nulls.push(column);
        self.order.as_mut().map_or(Ok(()), |order| order.add_source(column))
    }

    fn retain_sources(&mut self, keep: &[usize]) {
        self.nulls.retain(keep);
        if let Some(order) = &mut self.order {
            order.retain(keep);
        }
    }

    fn fold_all(&mut self, folds: &Folds, cells: &mut Vec<Cell>) -> Result<(), FoldError> {
        if folds.adds_only() {
            self.settle_additions(folds, cells);
            return Ok(());
        }
        key_by_key(folds, cells, |steps| self.fold(steps))
    }
}
