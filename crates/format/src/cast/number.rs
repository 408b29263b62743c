//! Casts among BOOLEAN and the numbers.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
};
use arrow_array::{Array, ArrayRef, BooleanArray, Decimal128Array, PrimitiveArray};
use arrow_buffer::BooleanBuffer;

use super::{parse, text, wrong};
use crate::types::{DataType, Kind, MAX_COMPACT_DECIMAL};
use crate::{Error, Result};

pub(super) fn cast(array: &ArrayRef, from: &DataType, to: &DataType) -> Result<ArrayRef> {
    match &from.kind {
        Kind::Boolean => {
            let bits = array.as_boolean_opt().ok_or_else(|| wrong(array, &from.kind))?;
            let values = bits.values().iter().map(i64::from).collect::<Vec<_>>();
            from_integers(&PrimitiveArray::<Int64Type>::new(values.into(), bits.nulls().cloned()), to)
        }
        Kind::Float => from_floats(&typed::<Float32Type>(array, from)?.unary(f64::from), to),
        Kind::Double => from_floats(typed::<Float64Type>(array, from)?, to),
        Kind::Decimal { precision, scale } => from_decimals(typed(array, from)?, *precision, *scale, to),
        _ => from_integers(&integers(array, from)?, to),
    }
}

pub(super) fn typed<'a, T: ArrowPrimitiveType>(array: &'a ArrayRef, of: &DataType) -> Result<&'a PrimitiveArray<T>> {
    array.as_primitive_opt::<T>().ok_or_else(|| wrong(array, &of.kind))
}

/// TINYINT to BIGINT as 64 bits.
pub(super) fn integers(array: &ArrayRef, of: &DataType) -> Result<PrimitiveArray<Int64Type>> {
    Ok(match &of.kind {
        Kind::TinyInt => typed::<Int8Type>(array, of)?.unary(i64::from),
        Kind::SmallInt => typed::<Int16Type>(array, of)?.unary(i64::from),
        Kind::Int => typed::<Int32Type>(array, of)?.unary(i64::from),
        _ => typed::<Int64Type>(array, of)?.clone(),
    })
}

fn no_rule(to: &DataType) -> Error {
    Error::internal(format!("no numeric cast to {:?}", to.kind))
}

/// Integers keep their low bits.
pub(super) fn from_integers(values: &PrimitiveArray<Int64Type>, to: &DataType) -> Result<ArrayRef> {
    Ok(match &to.kind {
        Kind::Boolean => {
            let bits = BooleanBuffer::collect_bool(values.len(), |row| values.value(row) != 0);
            Arc::new(BooleanArray::new(bits, values.nulls().cloned()))
        }
        Kind::TinyInt => Arc::new(values.unary::<_, Int8Type>(|v| v as i8)),
        Kind::SmallInt => Arc::new(values.unary::<_, Int16Type>(|v| v as i16)),
        Kind::Int => Arc::new(values.unary::<_, Int32Type>(|v| v as i32)),
        Kind::BigInt => Arc::new(values.clone()),
        Kind::Float => Arc::new(values.unary::<_, Float32Type>(|v| v as f32)),
        Kind::Double => Arc::new(values.unary::<_, Float64Type>(|v| v as f64)),
        Kind::Decimal { precision, scale } => {
            let fit = |v| rescale(i128::from(v), 0, *precision, *scale);
            decimals(values.unary_opt::<_, Decimal128Type>(fit), *precision, *scale)?
        }
        _ => return Err(no_rule(to)),
    })
}

/// Floats saturate at 32 or 64 bits; narrower integers keep the low bits of those. A FLOAT is given as the same DOUBLE.
fn from_floats(values: &PrimitiveArray<Float64Type>, to: &DataType) -> Result<ArrayRef> {
    Ok(match &to.kind {
        Kind::TinyInt => Arc::new(values.unary::<_, Int8Type>(|v| v as i32 as i8)),
        Kind::SmallInt => Arc::new(values.unary::<_, Int16Type>(|v| v as i32 as i16)),
        Kind::Int => Arc::new(values.unary::<_, Int32Type>(|v| v as i32)),
        Kind::BigInt => Arc::new(values.unary::<_, Int64Type>(|v| v as i64)),
        Kind::Float => Arc::new(values.unary::<_, Float32Type>(|v| v as f32)),
        Kind::Double => Arc::new(values.clone()),
        Kind::Decimal { precision, scale } => {
            let read = |v: f64| match parse::exact_decimal(&text::double(v)) {
                Some(exact) => Ok(exact.fit(*precision, *scale)),
                None => Err(Error::invalid(format!("{v} is not a DECIMAL"))),
            };
            let fitted = values.iter().map(|v| v.map_or(Ok(None), read)).collect::<Result<Decimal128Array>>()?;
            decimals(fitted, *precision, *scale)?
        }
        _ => return Err(no_rule(to)),
    })
}

fn from_decimals(values: &Decimal128Array, precision: u8, scale: u8, to: &DataType) -> Result<ArrayRef> {
    let power = 10i128.pow(u32::from(scale.min(38)));
    // Whole part, of which only the low 64 bits count.
    let whole = |v: i128| (v / power) as i64;
    let double = |v: i128| {
        if precision <= MAX_COMPACT_DECIMAL {
            v as f64 / power as f64
        } else {
            text::decimal(v, scale).parse().unwrap_or(f64::NAN)
        }
    };
    Ok(match &to.kind {
        Kind::Float => Arc::new(values.unary::<_, Float32Type>(|v| double(v) as f32)),
        Kind::Double => Arc::new(values.unary::<_, Float64Type>(double)),
        Kind::Decimal { precision: p, scale: s } => {
            decimals(values.unary_opt::<_, Decimal128Type>(|v| rescale(v, scale, *p, *s)), *p, *s)?
        }
        Kind::TinyInt | Kind::SmallInt | Kind::Int | Kind::BigInt => {
            from_integers(&values.unary::<_, Int64Type>(whole), to)?
        }
        _ => return Err(no_rule(to)),
    })
}

pub(super) fn decimals(values: Decimal128Array, precision: u8, scale: u8) -> Result<ArrayRef> {
    Ok(Arc::new(values.with_precision_and_scale(precision, scale.cast_signed())?))
}

/// The unscaled value at another scale, rounded half up; `None` when it does not fit.
fn rescale(unscaled: i128, scale: u8, precision: u8, to: u8) -> Option<i128> {
    let scaled = if to >= scale {
        unscaled.checked_mul(10i128.checked_pow(u32::from(to - scale))?)?
    } else {
        let power = 10i128.checked_pow(u32::from(scale - to))?;
        let rest = (unscaled % power).abs();
        unscaled / power + if rest >= power - rest { unscaled.signum() } else { 0 }
    };
    (scaled.unsigned_abs() < 10u128.checked_pow(u32::from(precision))?).then_some(scaled)
}
