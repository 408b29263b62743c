//! What makes two elements the same: some of their columns, as numbers and bytes that are equal when the values are.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, Time32MillisecondType,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
};
use arrow_array::{Array, ArrayRef, BinaryArray, StringArray};
use arrow_buffer::NullBuffer;
use arrow_row::{RowConverter, Rows, SortField};
use arrow_schema::{DataType as ArrowType, TimeUnit};
use linn_format::datum::one_nan;
use linn_format::{Error, Result};

/// Some columns of the elements of a list.
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

    /// What elements are told apart by; many NaN are one value.
    fn columns(&self, child: &ArrayRef) -> Result<Vec<ArrayRef>> {
        match (self.fields.is_empty(), child.as_struct_opt()) {
            (true, _) => Ok(vec![one_nan(child)?]),
            (false, Some(rows)) => self.fields.iter().map(|&f| one_nan(rows.column(f))).collect(),
            (false, None) => Err(Error::internal("elements of a nested table are not rows")),
        }
    }

    /// All elements of a source so that their bytes compare like the values.
    pub(super) fn rows(&self, child: &ArrayRef) -> Result<Rows> {
        Ok(self.converter.convert_columns(&self.columns(child)?)?)
    }

    /// All elements of a source so that they are equal when the values are.
    pub(super) fn ids(&self, child: &ArrayRef) -> Result<Ids> {
        let columns = self.columns(child)?;
        if let [column] = columns.as_slice()
            && let Some(ids) = of_column(column)
        {
            return Ok(ids);
        }
        Ok(Ids::Rows(self.converter.convert_columns(&columns)?))
    }

    /// Which elements have a value in every field; `None` when all have. Of whole elements all count.
    pub(super) fn filled(&self, child: &ArrayRef) -> Option<NullBuffer> {
        let rows = child.as_struct_opt()?;
        let nulls = self.fields.iter().map(|&f| rows.column(f).nulls());
        nulls.fold(None, |all, nulls| NullBuffer::union(all.as_ref(), nulls)).filter(|nulls| nulls.null_count() > 0)
    }
}

/// Bytes of which the word says all, together with their number.
const WHOLE: usize = 7;

/// What one element is told from others by.
#[derive(Debug, Clone, Copy, Eq)]
pub(super) struct Id<'a> {
    /// A number, or something of the bytes by which most different ones are told apart.
    word: u64,
    bytes: &'a [u8],
}

impl PartialEq for Id<'_> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.word == other.word
            && self.bytes.len() == other.bytes.len()
            && (self.bytes.len() <= WHOLE || self.bytes == other.bytes)
    }
}

impl std::hash::Hash for Id<'_> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.word.hash(state);
        self.bytes.hash(state);
    }
}

impl Id<'_> {
    /// No number has bytes, and no bytes are null.
    const NULL: Self = Self { word: 1, bytes: &[] };
    const NULL_WORD: Self = Self { word: 0, bytes: &[0] };

    fn word(word: u64) -> Self {
        Self { word, bytes: &[] }
    }
}

impl<'a> Id<'a> {
    #[inline]
    fn bytes(bytes: &'a [u8]) -> Self {
        // The first and the last bytes: words that begin alike often end otherwise.
        let word = if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
            u64::from_le_bytes(*first) ^ u64::from_le_bytes(*last).rotate_left(32)
        } else if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
            u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << 32
        } else {
            bytes.iter().fold(0, |word, byte| (word << 8) | u64::from(*byte))
        };
        Self { word, bytes }
    }
}

/// The elements of one source.
pub(super) enum Ids {
    Words(Vec<u64>, Option<NullBuffer>),
    Text(StringArray),
    Binary(BinaryArray),
    Rows(Rows),
}

impl Ids {
    /// The numbers that are all there is to them, where they are.
    pub(super) fn words(&self) -> Option<&[u64]> {
        if let Self::Words(words, None) = self { Some(words) } else { None }
    }

    /// That of one element.
    #[inline]
    pub(super) fn id(&self, at: usize) -> Id<'_> {
        match self {
            Self::Words(words, nulls) => match nulls {
                Some(nulls) if nulls.is_null(at) => Id::NULL_WORD,
                _ => Id::word(words[at]),
            },
            Self::Text(texts) if texts.is_null(at) => Id::NULL,
            Self::Text(texts) => Id::bytes(texts.value(at).as_bytes()),
            Self::Binary(values) if values.is_null(at) => Id::NULL,
            Self::Binary(values) => Id::bytes(values.value(at)),
            Self::Rows(rows) => Id::bytes(rows.row(at).data()),
        }
    }
}

/// Of a column, with one NaN for all, whose values are numbers or bytes already; `None` for others.
fn of_column(column: &ArrayRef) -> Option<Ids> {
    macro_rules! words {
        ($t:ty, $word:expr) => {{
            let array = column.as_primitive_opt::<$t>()?;
            let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0).cloned();
            Ids::Words(array.values().iter().map(|v| $word(*v)).collect(), nulls)
        }};
    }
    Some(match column.data_type() {
        ArrowType::Int8 => words!(Int8Type, |v: i8| v as u64),
        ArrowType::Int16 => words!(Int16Type, |v: i16| v as u64),
        ArrowType::Int32 => words!(Int32Type, |v: i32| v as u64),
        ArrowType::Int64 => words!(Int64Type, |v: i64| v as u64),
        ArrowType::Date32 => words!(Date32Type, |v: i32| v as u64),
        ArrowType::Time32(TimeUnit::Millisecond) => words!(Time32MillisecondType, |v: i32| v as u64),
        ArrowType::Timestamp(TimeUnit::Millisecond, _) => words!(TimestampMillisecondType, |v: i64| v as u64),
        ArrowType::Timestamp(TimeUnit::Microsecond, _) => words!(TimestampMicrosecondType, |v: i64| v as u64),
        ArrowType::Timestamp(TimeUnit::Nanosecond, _) => words!(TimestampNanosecondType, |v: i64| v as u64),
        ArrowType::Float32 => words!(Float32Type, |v: f32| u64::from(v.to_bits())),
        ArrowType::Float64 => words!(Float64Type, f64::to_bits),
        ArrowType::Utf8 => Ids::Text(column.as_string_opt::<i32>()?.clone()),
        ArrowType::Binary => Ids::Binary(column.as_binary_opt::<i32>()?.clone()),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{BooleanArray, Float64Array, Int32Array, ListArray, StructArray};
    use arrow_buffer::OffsetBuffer;
    use arrow_schema::Field;

    use super::*;

    fn check(columns: &[ArrayRef], equal: impl Fn(usize, usize) -> bool) {
        let fields: Vec<Field> = columns.iter().map(|c| Field::new("c", c.data_type().clone(), true)).collect();
        let rows: ArrayRef = Arc::new(StructArray::new(fields.into(), columns.to_vec(), None));
        let identity = Identity::new(rows.data_type(), (0..columns.len()).collect()).unwrap();
        let ids = identity.ids(&rows).unwrap();
        for a in 0..rows.len() {
            for b in 0..rows.len() {
                assert_eq!(ids.id(a) == ids.id(b), equal(a, b), "{a} {b}");
            }
        }
    }

    #[test]
    fn ids_are_equal_when_values_are() {
        let ints: ArrayRef = Arc::new(Int32Array::from(vec![Some(0), None, Some(-1), Some(0), None]));
        let same = |a: usize, b: usize| a % 3 == b % 3;
        check(std::slice::from_ref(&ints), same);
        let long = "a text of many words";
        let texts: ArrayRef = Arc::new(StringArray::from(vec![Some(""), None, Some(long), Some(""), None, Some(long)]));
        check(std::slice::from_ref(&texts), same);
        let bytes: Vec<Option<&[u8]>> = vec![Some(&[0]), None, Some(&[]), Some(&[0]), None, Some(&[]), Some(&[0, 0])];
        check(&[Arc::new(BinaryArray::from(bytes))], |a, b| a.max(b) < 6 && same(a, b) || a == b);
        let floats = vec![0.0, f64::NAN, -0.0, 0.0, -f64::NAN];
        let floats: ArrayRef = Arc::new(Float64Array::from(floats));
        check(std::slice::from_ref(&floats), same);
        check(&[floats.clone(), ints.clone()], same);
        let rows: ArrayRef = Arc::new(StructArray::new(
            vec![Field::new("f", floats.data_type().clone(), true)].into(),
            vec![floats],
            None,
        ));
        check(std::slice::from_ref(&rows), same);
        let parts = Arc::new(Field::new("element", rows.data_type().clone(), true));
        let lists = ListArray::new(parts, OffsetBuffer::from_lengths([1; 5]), rows, None);
        check(&[Arc::new(lists)], same);
        check(&[Arc::new(BooleanArray::from(vec![Some(true), None, Some(false), Some(true)]))], same);
        check(&[ints, texts.slice(0, 5)], same);
    }

    #[test]
    fn bytes_that_share_their_word_differ() {
        let texts = vec!["abcdefgh--------abcdefgh", "abcdefgh++++++++abcdefgh", "\u{1}", "\u{0}\u{1}"];
        check(&[Arc::new(StringArray::from(texts))], |a, b| a == b);
        let short =
            vec!["aaaa", "aaaaa", "aaaaaa", "aaaaaab", "abaaaaa", "aaabaaa", "aaa", "aab", "aabaaaa", "aaaabaa"];
        check(&[Arc::new(StringArray::from(short))], |a, b| a == b);
        let eight = vec!["abcdabcd", "bcdabcda", "abcdefgh", "efghabcd"];
        check(&[Arc::new(StringArray::from(eight))], |a, b| a == b);
    }
}
