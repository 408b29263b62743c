//! Accumulators that let others do the work on wider values, and bring the result back to its type or say that it does not fit.
//!
//! 64 bits are summed in 128 and 128 in 256, so that no number of rows that can be read overflows on the way; only the result
//! is looked at.

use std::fmt;
use std::sync::Arc;

use datafusion::arrow::array::cast::AsArray;
use datafusion::arrow::array::{Array, ArrayRef, BooleanArray, PrimitiveArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{
    ArrowPrimitiveType, DataType, Decimal128Type, Decimal256Type, Float64Type, Int64Type, UInt64Type, i256,
};
use datafusion::arrow::error::ArrowError;
use datafusion::common::ScalarValue;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{Accumulator, EmitTo, GroupsAccumulator};

use super::sql_name;

/// The type in which values of a type are accumulated; `None` for those whose own is wide enough, or that are inexact.
pub(super) fn wider(data_type: &DataType) -> Option<DataType> {
    /// So many digits leave room for 10^14 values of the largest size.
    const ROOMY: u8 = 24;
    match data_type {
        DataType::Int64 | DataType::UInt64 | DataType::Duration(_) => Some(DataType::Decimal128(38, 0)),
        DataType::Decimal128(precision, scale) if *precision > ROOMY => Some(DataType::Decimal256(76, *scale)),
        _ => None,
    }
}

/// Values in their wider type.
fn widen(values: &ArrayRef, to: Option<&DataType>) -> Result<ArrayRef> {
    let Some(to) = to else { return Ok(Arc::clone(values)) };
    Ok(match values.data_type() {
        DataType::Int64 => to_decimal(values.as_primitive::<Int64Type>(), i128::from),
        DataType::UInt64 => to_decimal(values.as_primitive::<UInt64Type>(), i128::from),
        DataType::Duration(_) => to_decimal(cast(values, &DataType::Int64)?.as_primitive::<Int64Type>(), i128::from),
        DataType::Decimal128(_, _) => {
            let wide = values.as_primitive::<Decimal128Type>().unary::<_, Decimal256Type>(i256::from_i128);
            Arc::new(wide.with_data_type(to.clone()))
        }
        other => return Err(DataFusionError::Internal(format!("{other} cannot be accumulated in {to}"))),
    })
}

fn to_decimal<T: ArrowPrimitiveType>(values: &PrimitiveArray<T>, wide: impl Fn(T::Native) -> i128) -> ArrayRef {
    Arc::new(values.unary::<_, Decimal128Type>(wide).with_data_type(DataType::Decimal128(38, 0)))
}

/// What becomes of the accumulated values.
#[derive(Debug, Clone)]
pub(super) struct Outcome {
    /// The type of the result.
    pub(super) kind: DataType,
    /// The expression, for errors.
    pub(super) text: String,
}

impl Outcome {
    fn overflow(&self) -> DataFusionError {
        DataFusionError::Execution(format!("{} overflow in {}", sql_name(&self.kind), self.text))
    }

    /// The result of what one accumulator gives, or two: then a sum is divided by a count.
    fn of(&self, parts: &[ArrayRef]) -> Result<ArrayRef> {
        match parts {
            [only] => self.narrow(only),
            [sum, count] => match &self.kind {
                DataType::Float64 => quotients::<Float64Type>(sum, count, double),
                kind => Ok(cast(&quotients::<Int64Type>(sum, count, whole)?, kind)?),
            },
            _ => Err(DataFusionError::Internal("an aggregate has one part or two".to_owned())),
        }
    }

    fn narrow(&self, wide: &ArrayRef) -> Result<ArrayRef> {
        if wide.data_type() == &self.kind {
            return self.checked(wide);
        }
        match (&self.kind, wide.data_type()) {
            (DataType::Int64, DataType::Decimal128(..)) => {
                self.integers::<Int64Type>(wide, |value| i64::try_from(value).ok())
            }
            (DataType::UInt64, DataType::Decimal128(..)) => {
                self.integers::<UInt64Type>(wide, |value| u64::try_from(value).ok())
            }
            (DataType::Duration(unit), DataType::Decimal128(..)) => {
                let whole = self.integers::<Int64Type>(wide, |value| i64::try_from(value).ok())?;
                Ok(cast(&whole, &DataType::Duration(*unit))?)
            }
            (DataType::Decimal128(precision, _), DataType::Decimal256(..)) => {
                let limit = 10i128.checked_pow(u32::from(*precision)).ok_or_else(|| self.overflow())?;
                let narrow = |value: i256| {
                    let value = value.to_i128().filter(|value| value.unsigned_abs() < limit.unsigned_abs());
                    value.ok_or_else(|| ArrowError::ComputeError(String::new()))
                };
                let values = wide.as_primitive::<Decimal256Type>().try_unary::<_, Decimal128Type, _>(narrow);
                Ok(Arc::new(values.map_err(|_| self.overflow())?.with_data_type(self.kind.clone())))
            }
            (to, from) => Err(DataFusionError::Internal(format!("{from} is not converted to {to}"))),
        }
    }

    fn integers<T: ArrowPrimitiveType>(
        &self,
        wide: &ArrayRef,
        narrow: impl Fn(i128) -> Option<T::Native>,
    ) -> Result<ArrayRef> {
        let narrow = |value| narrow(value).ok_or_else(|| ArrowError::ComputeError(String::new()));
        let values = wide.as_primitive::<Decimal128Type>().try_unary::<_, T, _>(narrow);
        Ok(Arc::new(values.map_err(|_| self.overflow())?))
    }

    /// The digits fit.
    fn checked(&self, values: &ArrayRef) -> Result<ArrayRef> {
        if let DataType::Decimal128(precision, _) = values.data_type() {
            let fits = values.as_primitive::<Decimal128Type>().validate_decimal_precision(*precision);
            fits.map_err(|_| self.overflow())?;
        }
        Ok(Arc::clone(values))
    }
}

/// Sums divided by counts; null where nothing was counted.
fn quotients<T: ArrowPrimitiveType>(
    sums: &ArrayRef,
    counts: &ArrayRef,
    divide: fn(i128, i128) -> Option<T::Native>,
) -> Result<ArrayRef>
where
    PrimitiveArray<T>: FromIterator<Option<T::Native>>,
{
    let (sums, counts) = (sums.as_primitive::<Decimal128Type>(), counts.as_primitive::<Int64Type>());
    let quotient =
        |(sum, count): (Option<i128>, Option<i64>)| divide(sum?, i128::from(count.filter(|count| *count != 0)?));
    Ok(Arc::new(sums.iter().zip(counts).map(quotient).collect::<PrimitiveArray<T>>()))
}

/// The whole part is divided exactly, so that a sum of more digits than a double holds loses none before.
fn double(sum: i128, count: i128) -> Option<f64> {
    Some((sum / count) as f64 + (sum % count) as f64 / count as f64)
}

fn whole(sum: i128, count: i128) -> Option<i64> {
    i64::try_from(sum / count).ok()
}

/// One accumulator of wider values, or a sum and a count.
pub(super) struct Wide {
    pub(super) parts: Vec<Box<dyn Accumulator>>,
    pub(super) to: Option<DataType>,
    pub(super) outcome: Outcome,
}

impl fmt::Debug for Wide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wide").field("to", &self.to).field("outcome", &self.outcome).finish_non_exhaustive()
    }
}

impl Wide {
    fn widened(&self, values: &[ArrayRef]) -> Result<Vec<ArrayRef>> {
        values.iter().map(|values| widen(values, self.to.as_ref())).collect()
    }
}

impl Accumulator for Wide {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let values = self.widened(values)?;
        self.parts.iter_mut().try_for_each(|part| part.update_batch(&values))
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let values = self.widened(values)?;
        self.parts.iter_mut().try_for_each(|part| part.retract_batch(&values))
    }

    fn supports_retract_batch(&self) -> bool {
        self.parts.iter().all(|part| part.supports_retract_batch())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let one = |part: &mut Box<dyn Accumulator>| part.evaluate()?.to_array();
        let parts = self.parts.iter_mut().map(one).collect::<Result<Vec<_>>>()?;
        ScalarValue::try_from_array(&self.outcome.of(&parts)?, 0)
    }

    fn size(&self) -> usize {
        self.parts.iter().map(|part| part.size()).sum()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let states = self.parts.iter_mut().map(|part| part.state()).collect::<Result<Vec<_>>>()?;
        Ok(states.into_iter().flatten().collect())
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        // Every part has a state of one column.
        let one = self.parts.len() == 1;
        for (at, part) in self.parts.iter_mut().enumerate() {
            let own = if one { states } else { states.get(at..=at).unwrap_or_default() };
            part.merge_batch(own)?;
        }
        Ok(())
    }
}

/// The same for many groups at a time.
pub(super) struct WideGroups {
    pub(super) parts: Vec<Box<dyn GroupsAccumulator>>,
    pub(super) to: Option<DataType>,
    pub(super) outcome: Outcome,
}

impl GroupsAccumulator for WideGroups {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        opt_filter: Option<&BooleanArray>,
        total_num_groups: usize,
    ) -> Result<()> {
        let values = values.iter().map(|values| widen(values, self.to.as_ref())).collect::<Result<Vec<_>>>()?;
        let update = |part: &mut Box<dyn GroupsAccumulator>| {
            part.update_batch(&values, group_indices, opt_filter, total_num_groups)
        };
        self.parts.iter_mut().try_for_each(update)
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        let parts = self.parts.iter_mut().map(|part| part.evaluate(emit_to)).collect::<Result<Vec<_>>>()?;
        self.outcome.of(&parts)
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        let states = self.parts.iter_mut().map(|part| part.state(emit_to)).collect::<Result<Vec<_>>>()?;
        Ok(states.into_iter().flatten().collect())
    }

    fn merge_batch(&mut self, states: &[ArrayRef], group_indices: &[usize], total_num_groups: usize) -> Result<()> {
        let one = self.parts.len() == 1;
        for (at, part) in self.parts.iter_mut().enumerate() {
            let own = if one { states } else { states.get(at..=at).unwrap_or_default() };
            part.merge_batch(own, group_indices, total_num_groups)?;
        }
        Ok(())
    }

    fn convert_to_state(&self, values: &[ArrayRef], opt_filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        let values = values.iter().map(|values| widen(values, self.to.as_ref())).collect::<Result<Vec<_>>>()?;
        let states = self.parts.iter().map(|part| part.convert_to_state(&values, opt_filter));
        Ok(states.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
    }

    fn size(&self) -> usize {
        self.parts.iter().map(|part| part.size()).sum()
    }
}
