//! Random types and arrays of them.

use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, StringBuilder};
use arrow_array::types::*;
use arrow_array::{
    ArrayRef, BooleanArray, FixedSizeListArray, ListArray, MapArray, PrimitiveArray, RecordBatch, StructArray,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType as Arrow, FieldRef};

use crate::types::{DataField, DataType, Kind, arrow_schema, assign_ids};

/// A generator of numbers from a seed.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(super) fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}

/// Columns of random types, with ids.
pub(super) fn fields(random: &mut Random) -> Vec<DataField> {
    let count = 1 + random.below(5);
    let fields = (0..count).map(|i| DataField::new(0, format!("c{i}"), data_type(random, 0))).collect();
    assign_ids(fields, &mut -1).unwrap()
}

fn data_type(random: &mut Random, depth: u32) -> DataType {
    let nullable = random.below(4) > 0;
    let inner = |random: &mut Random| Box::new(data_type(random, depth + 1));
    let kind = match random.below(if depth < 3 { 23 } else { 17 }) {
        0 => Kind::Boolean,
        1 => Kind::TinyInt,
        2 => Kind::SmallInt,
        3 => Kind::Int,
        4 => Kind::BigInt,
        5 => Kind::Float,
        6 => Kind::Double,
        7 => Kind::Date,
        8 => Kind::Time(3),
        9 | 10 => Kind::Timestamp(random.below(10) as u8),
        11 => Kind::LocalZonedTimestamp(random.below(10) as u8),
        12..=14 => {
            let precision = 1 + random.below(38) as u8;
            Kind::Decimal { precision, scale: random.below(u64::from(precision) + 1) as u8 }
        }
        15 => Kind::Varchar(100),
        16 => Kind::Varbinary(100),
        17 | 18 => Kind::Array(inner(random)),
        19 => Kind::Map(inner(random), inner(random)),
        20 => Kind::Multiset(Box::new(DataType::string())),
        21 => Kind::Vector { element: Box::new(DataType { kind: Kind::Float, nullable }), length: 3 },
        _ => {
            let count = 1 + random.below(3);
            Kind::Row((0..count).map(|i| DataField::new(0, format!("f{i}"), data_type(random, depth + 1))).collect())
        }
    };
    DataType { kind, nullable }
}

/// A batch of random rows.
pub(super) fn batch(random: &mut Random, fields: &[DataField], rows: usize) -> RecordBatch {
    let schema = arrow_schema(fields).unwrap();
    let columns = schema.fields().iter().map(|f| array(random, f, rows)).collect();
    RecordBatch::try_new(schema, columns).unwrap()
}

fn array(random: &mut Random, field: &FieldRef, rows: usize) -> ArrayRef {
    let nulls = nulls(random, field, rows);
    match field.data_type() {
        Arrow::Boolean => {
            let values: Vec<bool> = (0..rows).map(|_| random.below(2) == 0).collect();
            Arc::new(BooleanArray::new(values.into(), nulls))
        }
        Arrow::Int8 => primitive::<Int8Type>(random, rows, nulls, |r| r as i8),
        Arrow::Int16 => primitive::<Int16Type>(random, rows, nulls, |r| r as i16),
        Arrow::Int32 => primitive::<Int32Type>(random, rows, nulls, |r| r as i32),
        Arrow::Int64 => primitive::<Int64Type>(random, rows, nulls, |r| r as i64),
        Arrow::Float32 => primitive::<Float32Type>(random, rows, nulls, |r| r as i32 as f32 / 7.0),
        Arrow::Float64 => primitive::<Float64Type>(random, rows, nulls, |r| r as i64 as f64 / 7.0),
        Arrow::Date32 => primitive::<Date32Type>(random, rows, nulls, |r| r as i16 as i32 * 10),
        Arrow::Time32(_) => primitive::<Time32MillisecondType>(random, rows, nulls, |r| (r % 86_400_000) as i32),
        Arrow::Timestamp(arrow_schema::TimeUnit::Millisecond, zone) => {
            let zone = zone.clone();
            let array = timestamps::<TimestampMillisecondType>(random, rows, nulls);
            Arc::new(array.with_timezone_opt(zone))
        }
        Arrow::Timestamp(arrow_schema::TimeUnit::Microsecond, zone) => {
            let array = timestamps::<TimestampMicrosecondType>(random, rows, nulls);
            Arc::new(array.with_timezone_opt(zone.clone()))
        }
        Arrow::Timestamp(_, zone) => {
            let array = timestamps::<TimestampNanosecondType>(random, rows, nulls);
            Arc::new(array.with_timezone_opt(zone.clone()))
        }
        Arrow::Decimal128(precision, scale) => {
            let limit = 10_i128.pow(u32::from(*precision));
            let wide = |r: &mut Random| (i128::from(r.next()) << 64 | i128::from(r.next())) % limit;
            let values: Vec<i128> = (0..rows).map(|_| wide(random)).collect();
            let array = PrimitiveArray::<Decimal128Type>::new(values.into(), nulls);
            Arc::new(array.with_precision_and_scale(*precision, *scale).unwrap())
        }
        Arrow::Utf8 => {
            let mut builder = StringBuilder::new();
            for i in 0..rows {
                let text = "aé中😀xyz".chars().cycle().skip(i % 5).take(random.below(9) as usize).collect::<String>();
                builder.append_option(valid(&nulls, i).then_some(text));
            }
            Arc::new(builder.finish())
        }
        Arrow::Binary => {
            let mut builder = BinaryBuilder::new();
            for i in 0..rows {
                let bytes: Vec<u8> = (0..random.below(9)).map(|_| random.next() as u8).collect();
                builder.append_option(valid(&nulls, i).then_some(bytes));
            }
            Arc::new(builder.finish())
        }
        nested => self::nested(random, nested, rows, nulls),
    }
}

fn nested(random: &mut Random, data_type: &Arrow, rows: usize, nulls: Option<NullBuffer>) -> ArrayRef {
    let lengths = |random: &mut Random| -> Vec<usize> { (0..rows).map(|_| random.below(4) as usize).collect() };
    match data_type {
        Arrow::List(element) => {
            let lengths = lengths(random);
            let values = array(random, element, lengths.iter().sum());
            Arc::new(ListArray::new(element.clone(), OffsetBuffer::from_lengths(lengths), values, nulls))
        }
        Arrow::FixedSizeList(element, length) => {
            let values = array(random, element, rows * *length as usize);
            Arc::new(FixedSizeListArray::new(element.clone(), *length, values, nulls))
        }
        Arrow::Map(entries, _) => {
            let lengths = lengths(random);
            let Arrow::Struct(parts) = entries.data_type() else { panic!() };
            let total = lengths.iter().sum();
            let columns = parts.iter().map(|part| array(random, part, total)).collect();
            let pairs = StructArray::new(parts.clone(), columns, None);
            Arc::new(MapArray::new(entries.clone(), OffsetBuffer::from_lengths(lengths), pairs, nulls, false))
        }
        Arrow::Struct(fields) => {
            let columns = fields.iter().map(|field| array(random, field, rows)).collect();
            Arc::new(StructArray::new(fields.clone(), columns, nulls))
        }
        other => panic!("no values of {other}"),
    }
}

fn nulls(random: &mut Random, field: &FieldRef, rows: usize) -> Option<NullBuffer> {
    let some = field.is_nullable() && random.below(3) > 0;
    some.then(|| (0..rows).map(|_| random.below(3) > 0).collect::<Vec<bool>>().into())
}

fn valid(nulls: &Option<NullBuffer>, row: usize) -> bool {
    nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row))
}

fn primitive<T: ArrowPrimitiveType>(
    random: &mut Random,
    rows: usize,
    nulls: Option<NullBuffer>,
    value: impl Fn(u64) -> T::Native,
) -> ArrayRef {
    let values: Vec<T::Native> = (0..rows).map(|_| value(random.next())).collect();
    Arc::new(PrimitiveArray::<T>::new(values.into(), nulls))
}

fn timestamps<T: ArrowTimestampType>(random: &mut Random, rows: usize, nulls: Option<NullBuffer>) -> PrimitiveArray<T> {
    let values: Vec<i64> = (0..rows).map(|_| random.next() as i64 >> random.below(60)).collect();
    PrimitiveArray::new(values.into(), nulls)
}
