//! Floats as the reference compares them: every NaN is one value, above all others, and -0.0 is below 0.0.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef, PrimitiveArray, make_array};
use arrow_schema::DataType as ArrowType;

use crate::Result;

/// FLOAT and DOUBLE.
pub trait Float: Copy {
    /// Integers as wide as the float.
    type Order: Ord + Copy;

    /// Whether it is one of the many NaN.
    fn is_nan(self) -> bool;

    /// The value, with one NaN for all.
    #[must_use]
    fn one_nan(self) -> Self;

    /// A number that orders as the float does: its bits, turned around below zero. Those of many NaN differ.
    fn order(self) -> Self::Order;

    /// The float of an order.
    fn from_order(order: Self::Order) -> Self;
}

macro_rules! float {
    ($float:ty, $order:ty, $nan:literal) => {
        impl Float for $float {
            type Order = $order;

            #[inline]
            fn is_nan(self) -> bool {
                self.is_nan()
            }

            #[inline]
            fn one_nan(self) -> Self {
                if self.is_nan() { Self::from_bits($nan) } else { self }
            }

            #[inline]
            fn order(self) -> $order {
                let bits = self.to_bits().cast_signed();
                bits ^ (bits >> (<$order>::BITS - 1) & <$order>::MAX)
            }

            #[inline]
            fn from_order(order: $order) -> Self {
                Self::from_bits((order ^ (order >> (<$order>::BITS - 1) & <$order>::MAX)).cast_unsigned())
            }
        }
    };
}

float!(f32, i32, 0x7fc0_0000);
float!(f64, i64, 0x7ff8_0000_0000_0000);

/// The array with one NaN for all, at any depth: kernels order NaN by sign and payload, or tell them apart.
///
/// # Errors
/// None that an array which is one gives.
pub fn one_nan(array: &ArrayRef) -> Result<ArrayRef> {
    Ok(changed(array)?.unwrap_or_else(|| array.clone()))
}

/// `None` when nothing is to be changed.
fn changed(array: &ArrayRef) -> Result<Option<ArrayRef>> {
    match array.data_type() {
        ArrowType::Float32 => Ok(floats::<Float32Type>(array)),
        ArrowType::Float64 => Ok(floats::<Float64Type>(array)),
        nested if has_floats(nested) => {
            let data = array.to_data();
            let (mut parts, mut any) = (Vec::with_capacity(data.child_data().len()), false);
            for part in data.child_data() {
                let changed = changed(&make_array(part.clone()))?;
                any |= changed.is_some();
                parts.push(changed.map_or_else(|| part.clone(), |array| array.to_data()));
            }
            Ok(if any { Some(make_array(data.into_builder().child_data(parts).build()?)) } else { None })
        }
        _ => Ok(None),
    }
}

fn floats<T: ArrowPrimitiveType<Native: Float>>(array: &ArrayRef) -> Option<ArrayRef> {
    let floats: &PrimitiveArray<T> = array.as_primitive_opt()?;
    let any = floats.values().iter().any(|v| v.is_nan() && v.order() != v.one_nan().order());
    any.then(|| Arc::new(floats.unary::<_, T>(Float::one_nan)) as ArrayRef)
}

fn has_floats(data_type: &ArrowType) -> bool {
    match data_type {
        ArrowType::Float32 | ArrowType::Float64 => true,
        ArrowType::Struct(fields) => fields.iter().any(|field| has_floats(field.data_type())),
        ArrowType::List(part) | ArrowType::Map(part, _) | ArrowType::FixedSizeList(part, _) => {
            has_floats(part.data_type())
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::types::Int32Type;
    use arrow_array::{Float32Array, Float64Array, ListArray, StructArray};
    use arrow_buffer::{NullBuffer, OffsetBuffer};
    use arrow_schema::Field;

    use super::*;

    const FLOATS: [f64; 9] =
        [f64::NEG_INFINITY, -1.5, -f64::MIN_POSITIVE, -0.0, 0.0, 1e-300, 2.0, f64::INFINITY, f64::NAN];

    #[test]
    fn orders_are_those_of_floats() {
        for (i, a) in FLOATS.iter().enumerate() {
            for (j, b) in FLOATS.iter().enumerate() {
                assert_eq!(a.order().cmp(&b.order()), i.cmp(&j), "{a} {b}");
                // The smallest numbers are none in 32 bits.
                if ![2, 5].contains(&i) && ![2, 5].contains(&j) {
                    assert_eq!((*a as f32).order().cmp(&(*b as f32).order()), i.cmp(&j), "{a} {b}");
                }
            }
            assert_eq!(f64::from_order(a.order()).to_bits(), a.to_bits());
        }
        let odd = f64::from_bits(0xfff0_0000_0000_0001);
        assert_eq!(odd.one_nan().to_bits(), f64::NAN.to_bits());
        assert_eq!((-f32::NAN).one_nan().to_bits(), 0x7fc0_0000);
        assert_eq!((-0.0f64).one_nan().to_bits(), (-0.0f64).to_bits());
    }

    #[test]
    fn there_is_one_nan_at_any_depth() {
        let doubles: ArrayRef = Arc::new(Float64Array::from(vec![Some(-f64::NAN), None, Some(-0.0), Some(f64::NAN)]));
        let nulls = Some(NullBuffer::from(vec![true, true, false, true]));
        let floats: ArrayRef = Arc::new(Float32Array::new(vec![f32::NAN, -f32::NAN, -f32::NAN, 1.0].into(), nulls));
        let field = |name, array: &ArrayRef| Field::new(name, array.data_type().clone(), true);
        let fields = vec![field("d", &doubles), field("f", &floats)];
        let rows: ArrayRef = Arc::new(StructArray::new(fields.into(), vec![doubles, floats], None));
        let (part, offsets) = (Arc::new(field("element", &rows)), OffsetBuffer::from_lengths([1, 0, 2, 1]));
        let lists: ArrayRef = Arc::new(ListArray::new(part, offsets, rows, Some(vec![true, false, true, true].into())));
        let lists = lists.slice(1, 3);
        let one = one_nan(&lists).unwrap();
        assert_eq!(one.data_type(), lists.data_type());
        assert_eq!(one.nulls(), lists.nulls());
        let values = one.as_list::<i32>().values().as_struct().clone();
        let (doubles, floats) =
            (values.column(0).as_primitive::<Float64Type>(), values.column(1).as_primitive::<Float32Type>());
        let bits: Vec<u64> = doubles.iter().flatten().map(f64::to_bits).collect();
        assert_eq!(bits[bits.len() - 2..], [(-0.0f64).to_bits(), f64::NAN.to_bits()]);
        assert!(floats.values().iter().filter(|f| f.is_nan()).all(|f| f.to_bits() == f32::NAN.to_bits()));
        assert_eq!(values.logical_null_count(), 0);
        let none: ArrayRef = Arc::new(PrimitiveArray::<Int32Type>::from(vec![1]));
        assert!(changed(&none).unwrap().is_none() && changed(&one).unwrap().is_none());
    }
}
