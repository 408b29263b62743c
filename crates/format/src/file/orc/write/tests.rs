//! Runs are read back by a decoder that works in 64 bits, as those of other implementations do, and files by ours.

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StructBuilder};
use arrow_array::types::{
    Date32Type, Decimal128Type, Int8Type, Int16Type, Int32Type, Int64Type, Time32MillisecondType,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
};
use arrow_array::{ArrayRef, ArrowPrimitiveType, BooleanArray, Int64Array, PrimitiveArray, RecordBatch, StringArray};
use arrow_cast::cast;
use arrow_select::concat::concat_batches;
use proptest::prelude::*;

use super::bytes::runs;
use super::ints::Ints;
use crate::file::orc::Orc;
use crate::fixture::{Memory, columns, plainly};
use crate::types::{DataField, DataType, arrow_schema};

/// Values as data has them: alike, in steps, near each other with some far away, and any.
fn sequences() -> impl Strategy<Value = Vec<i64>> {
    let edge = prop::sample::select(vec![i64::MIN, i64::MIN + 1, -1, 0, 1, i64::MAX - 1, i64::MAX]);
    let powers = (0u32..63, any::<bool>()).prop_map(|(p, down)| if down { -(1i64 << p) } else { 1i64 << p });
    let value = prop_oneof![2 => edge, 3 => powers, 2 => any::<i64>(), 3 => -300i64..300, 2 => any::<i32>().prop_map(i64::from)];
    let piece = prop_oneof![
        (value.clone(), 1usize..40).prop_map(|(v, n)| vec![v; n]),
        (value.clone(), 500usize..1100).prop_map(|(v, n)| vec![v; n]),
        (value.clone(), value.clone(), 1usize..600)
            .prop_map(|(v, step, n)| { (0..n as i64).map(|i| v.wrapping_add(step.wrapping_mul(i))).collect() }),
        (value.clone(), prop::collection::vec(0i64..1000, 1..700)).prop_map(|(v, steps)| {
            steps
                .iter()
                .scan(v, |at, step| {
                    *at = at.wrapping_add(*step);
                    Some(*at)
                })
                .collect()
        }),
        // Outliers of every width, in any share.
        (value.clone(), 0u32..64, 1usize..20, prop::collection::vec(any::<i64>(), 1..600)).prop_map(
            |(v, p, share, noise)| {
                let far = |i: usize, n: i64| {
                    if i.is_multiple_of(share) { n.cast_unsigned().wrapping_shr(p).cast_signed() } else { n & 0x3f }
                };
                noise.iter().enumerate().map(|(i, n)| v.wrapping_add(far(i, *n))).collect()
            }
        ),
        prop::collection::vec(value, 1..200),
    ];
    prop::collection::vec(piece, 0..4).prop_map(|pieces| pieces.concat())
}

/// Decodes runs as the format describes them, in 64 bits.
struct Plain<'a> {
    bytes: &'a [u8],
    signed: bool,
}

impl Plain<'_> {
    fn byte(&mut self) -> u8 {
        let (first, rest) = self.bytes.split_first().unwrap();
        self.bytes = rest;
        *first
    }

    fn varint(&mut self) -> u64 {
        let (mut value, mut shift) = (0u64, 0);
        loop {
            let byte = self.byte();
            let group = u64::from(byte & 0x7f);
            assert_eq!(group << shift >> shift, group, "bits beyond the sixty-fourth");
            value |= group << shift;
            shift += 7;
            if byte < 0x80 {
                return value;
            }
        }
    }

    fn unzigzag(value: u64) -> i64 {
        (value >> 1).cast_signed() ^ -((value & 1).cast_signed())
    }

    fn value(&self, raw: u64) -> i64 {
        if self.signed { Self::unzigzag(raw) } else { raw.cast_signed() }
    }

    fn packed(&mut self, count: usize, width: usize) -> Vec<u64> {
        let bits = count * width;
        let bytes: Vec<u8> = (0..bits.div_ceil(8)).map(|_| self.byte()).collect();
        let bit = |i: usize| u64::from(bytes[i / 8] >> (7 - i % 8) & 1);
        (0..count).map(|v| (0..width).fold(0, |all, b| all << 1 | bit(v * width + b))).collect()
    }

    fn all(mut self) -> Vec<i64> {
        let mut out = Vec::new();
        while !self.bytes.is_empty() {
            let head = self.byte();
            if head >> 6 == 0 {
                let raw = (0..=(head >> 3 & 7)).fold(0, |all, _| all << 8 | u64::from(self.byte()));
                out.extend(vec![self.value(raw); usize::from(head & 7) + 3]);
                continue;
            }
            let length = (usize::from(head & 1) << 8 | usize::from(self.byte())) + 1;
            let code = usize::from(head >> 1 & 31);
            let width = if code < 24 { code + 1 } else { [26, 28, 30, 32, 40, 48, 56, 64][code - 24] };
            match head >> 6 {
                1 => {
                    let raw = self.packed(length, width);
                    out.extend(raw.into_iter().map(|v| self.value(v)));
                }
                3 => {
                    let raw = self.varint();
                    let (base, first) = (self.value(raw), Self::unzigzag(self.varint()));
                    let steps = match code {
                        0 => vec![first.unsigned_abs(); length - 2],
                        _ => self.packed(length - 2, width),
                    };
                    let mut at = base + first;
                    out.extend([base, at]);
                    for step in steps {
                        let step = i64::try_from(step).unwrap();
                        at = if first < 0 { at - step } else { at + step };
                        out.push(at);
                    }
                }
                _ => panic!("patched bases are not written"),
            }
        }
        out
    }
}

fn check_ints(values: &[i64]) {
    let mut ints = Ints::signed();
    ints.extend(values.iter().copied());
    assert_eq!(Plain { bytes: &ints.finish(), signed: true }.all(), values);
    let positive: Vec<i64> = values.iter().map(|v| v & i64::MAX).collect();
    let mut ints = Ints::unsigned();
    ints.extend(positive.iter().copied());
    assert_eq!(Plain { bytes: &ints.finish(), signed: false }.all(), positive);
}

fn masked<T: ArrowPrimitiveType>(values: &[i64], nulls: &[bool], make: impl Fn(i64) -> T::Native) -> PrimitiveArray<T> {
    values.iter().zip(nulls.iter().cycle()).map(|(v, null)| (!null).then(|| make(*v))).collect()
}

/// A time that the format can hold: not within the second before 1970.
fn time(value: i64, units: i64) -> i64 {
    if value.div_euclid(units) == -1 { 0 } else { value }
}

/// The values as columns of every type that is made of integers.
fn table(values: &[i64], nulls: &[bool]) -> (Vec<DataField>, RecordBatch) {
    let small = |v: i64| v % 1_000_000_000_000_000_000;
    let wide = |v: i64| i128::from(v) * 1_000_000_007;
    let mut rows =
        StructBuilder::from_fields(vec![arrow_schema::Field::new("x", arrow_schema::DataType::Int64, true)], 0);
    let mut lists = ListBuilder::new(arrow_array::builder::Int64Builder::new());
    for (i, (value, null)) in values.iter().zip(nulls.iter().cycle()).enumerate() {
        rows.field_builder::<arrow_array::builder::Int64Builder>(0)
            .unwrap()
            .append_option((i % 3 > 0).then_some(*value));
        rows.append(!null);
        lists.values().append_slice(&values[..(i % 5).min(values.len())]);
        lists.append(!null);
    }
    let texts: StringArray =
        masked::<Int64Type>(values, nulls, |v| v).iter().map(|v| v.map(|v| v.to_string())).collect();
    let arrays: Vec<(&str, ArrayRef)> = vec![
        ("TINYINT", Arc::new(masked::<Int8Type>(values, nulls, |v| v as i8))),
        ("SMALLINT", Arc::new(masked::<Int16Type>(values, nulls, |v| v as i16))),
        ("INT", Arc::new(masked::<Int32Type>(values, nulls, |v| v as i32))),
        ("BIGINT", Arc::new(masked::<Int64Type>(values, nulls, |v| v))),
        ("DATE", Arc::new(masked::<Date32Type>(values, nulls, |v| v as i32))),
        ("TIME(3)", Arc::new(masked::<Time32MillisecondType>(values, nulls, |v| v as i32))),
        ("TIMESTAMP(3)", Arc::new(masked::<TimestampMillisecondType>(values, nulls, |v| time(v, 1_000)))),
        ("TIMESTAMP(6)", Arc::new(masked::<TimestampMicrosecondType>(values, nulls, |v| time(v, 1_000_000)))),
        ("TIMESTAMP(9)", Arc::new(masked::<TimestampNanosecondType>(values, nulls, |v| time(v, 1_000_000_000)))),
        ("DECIMAL(18, 4)", Arc::new(masked::<Decimal128Type>(values, nulls, |v| small(v).into()))),
        ("DECIMAL(38, 10)", Arc::new(masked::<Decimal128Type>(values, nulls, wide))),
        ("BOOLEAN", Arc::new(values.iter().map(|v| (v % 7 != 0).then_some(v & 4 == 0)).collect::<BooleanArray>())),
        ("STRING", Arc::new(texts)),
        ("BIGINT NOT NULL", Arc::new(Int64Array::from(values.to_vec()))),
        ("ROW<x BIGINT>", Arc::new(rows.finish())),
        ("ARRAY<BIGINT>", Arc::new(lists.finish())),
    ];
    let field = |(i, (sql, _)): (usize, &(&str, ArrayRef))| {
        DataField::new(i as i32, format!("c{i}"), DataType::parse(sql).unwrap())
    };
    let fields: Vec<DataField> = arrays.iter().enumerate().map(field).collect();
    let schema = arrow_schema(&fields).unwrap();
    let arrays = arrays.iter().zip(schema.fields()).map(|((_, a), f)| cast(a, f.data_type()).unwrap());
    let batch = RecordBatch::try_new(schema.clone(), arrays.collect()).unwrap();
    (fields, batch)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn integers_read_back_from_runs(values in sequences()) {
        check_ints(&values);
    }

    #[test]
    fn bytes_read_back_from_runs(
        pieces in prop::collection::vec((any::<u8>(), prop_oneof![3 => 1usize..5, 1 => 1usize..400]), 0..200),
    ) {
        let bytes: Vec<u8> = pieces.iter().flat_map(|(byte, n)| vec![*byte; *n]).collect();
        let (encoded, mut out) = (runs(&bytes), Vec::new());
        let mut rest = encoded.as_slice();
        while let Some((head, after)) = rest.split_first() {
            let plain = usize::from(head.wrapping_neg());
            let (run, after) = if *head < 128 { (vec![after[0]; usize::from(*head) + 3], &after[1..]) } else {
                (after[..plain].to_vec(), &after[plain..])
            };
            out.extend(run);
            rest = after;
        }
        prop_assert_eq!(out, bytes);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn columns_of_integers_read_back_from_files(
        values in sequences(),
        nulls in prop::collection::vec(prop::bool::weighted(0.3), 1..9),
        small in any::<bool>(),
        cuts in prop::collection::vec(0usize..1500, 0..3),
    ) {
        let (fields, batch) = table(&values, &nulls);
        let mut write = plainly(&fields, "zstd");
        if small {
            write.options.set("orc.stripe.size", "1 kb");
        }
        let mut places: Vec<usize> = cuts.iter().map(|cut| *cut.min(&values.len())).chain([0, values.len()]).collect();
        places.sort_unstable();
        let batches: Vec<RecordBatch> = places.windows(2).map(|w| batch.slice(w[0], w[1] - w[0])).collect();
        let file = Memory::write(&Orc, write, &batches).unwrap();
        let read = file.read(&Orc, columns(&fields)).unwrap();
        prop_assert_eq!(concat_batches(&batch.schema(), &read).unwrap(), batch);
    }
}

/// What the library that reads could not write, or wrote so that others read other values.
#[test]
fn regress_integers_of_every_shape() {
    let noise = |i: i64| (i * 37) % 100;
    let outliers: Vec<i64> = (0..100).map(|i| if i % 12 == 0 { 20_000_000 + i } else { noise(i) }).collect();
    let mut lowest: Vec<i64> = (0..100).map(|i| -noise(i)).collect();
    lowest[50] = i64::MIN;
    let large = [vec![2_000_000_000; 20], (0..20).map(|i| 1_700_000_000 + i * 7).collect()].concat();
    let apart = vec![i64::MIN, i64::MAX, -4, -3, i64::MIN, i64::MIN, 0];
    for values in [outliers, lowest, large, apart, vec![-5, i64::MIN, -4, -3, -7], vec![20_000; 20]] {
        check_ints(&values);
        let (fields, batch) = table(&values, &[false]);
        let file = Memory::write(&Orc, plainly(&fields, "none"), std::slice::from_ref(&batch)).unwrap();
        assert_eq!(file.read(&Orc, columns(&fields)).unwrap(), [batch]);
    }
}
