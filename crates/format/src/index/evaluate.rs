//! Asking the indexes of a file about a predicate.
//!
//! Every answer is a superset of the rows for which the predicate is true, under either reading of floats (IEEE or the
//! reference's total order); negations are pushed down to the comparisons, where null stays null.

use bytes::Bytes;
use roaring::RoaringBitmap;

use super::bitmap::Bitmap;
use super::bloom::{self, Bloom};
use super::bsi::{self, Bsi};
use super::container::{IndexFile, IndexPart};
use super::key::{Key, Layout, Literal, literal};
use super::range::{self, Range};
use super::{BITMAP, BLOOM_FILTER, BSI, RANGE_BITMAP};
use crate::datum::{Datum, Float};
use crate::predicate::{CompareOp, Predicate};
use crate::types::{DataField, Kind};
use crate::{Result, ResultExt};

/// What a file's indexes say of a predicate.
#[derive(Debug, Clone, PartialEq)]
pub enum IndexResult {
    /// No row can match.
    Skip,
    /// Nothing is known.
    Keep,
    /// Only these rows, by position in the file, can match.
    Rows(RoaringBitmap),
}

impl IndexResult {
    fn of(rows: RoaringBitmap) -> Self {
        if rows.is_empty() { Self::Skip } else { Self::Rows(rows) }
    }

    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Skip, _) | (_, Self::Skip) => Self::Skip,
            (Self::Keep, known) | (known, Self::Keep) => known,
            (Self::Rows(a), Self::Rows(b)) => Self::of(a & b),
        }
    }

    fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Keep, _) | (_, Self::Keep) => Self::Keep,
            (Self::Skip, known) | (known, Self::Skip) => known,
            (Self::Rows(a), Self::Rows(b)) => Self::Rows(a | b),
        }
    }
}

/// What the indexes in `bytes` (an index file, or the embedded one) say of `predicate`, whose columns are found among
/// `fields`: the fields of the file, under their names and types in the file. An index on a map key is found under the
/// name `m[k]`, so a field of that name with the type of the map's values asks it.
///
/// # Errors
/// `Corrupt` when the bytes are no index file, `Unsupported` for a newer version of one.
pub fn evaluate(bytes: &Bytes, fields: &[DataField], predicate: &Predicate) -> Result<IndexResult> {
    let file = IndexFile::parse(bytes)?;
    Evaluation { file: &file, fields }.test(predicate, false)
}

struct Evaluation<'a> {
    file: &'a IndexFile,
    fields: &'a [DataField],
}

/// A question about one column.
enum Question {
    Compare(CompareOp, Literal),
    Any(Vec<Key>),
    None(Vec<Key>),
    Null,
    NotNull,
}

impl Evaluation<'_> {
    fn test(&self, predicate: &Predicate, negated: bool) -> Result<IndexResult> {
        match predicate {
            Predicate::Constant(value) => Ok(if *value == negated { IndexResult::Skip } else { IndexResult::Keep }),
            Predicate::Not(inner) => self.test(inner, !negated),
            Predicate::And(all) if !negated => self.all(all, negated),
            Predicate::Or(any) if negated => self.all(any, negated),
            Predicate::And(any) | Predicate::Or(any) => self.any(any, negated),
            Predicate::Compare { field_id, op, literal } => {
                let Some(field) = self.field(*field_id) else { return Ok(IndexResult::Keep) };
                match comparison(*op, literal, &field.data_type.kind, negated) {
                    Some(question) => self.ask(field, &question),
                    None => Ok(IndexResult::Keep),
                }
            }
            Predicate::In { field_id, literals, negated: not } => {
                let Some(field) = self.field(*field_id) else { return Ok(IndexResult::Keep) };
                match membership(literals, &field.data_type.kind, *not != negated) {
                    Some(question) => self.ask(field, &question),
                    None => Ok(IndexResult::Keep),
                }
            }
            Predicate::IsNull { field_id, negated: not } => {
                let Some(field) = self.field(*field_id) else { return Ok(IndexResult::Keep) };
                self.ask(field, if *not != negated { &Question::NotNull } else { &Question::Null })
            }
            Predicate::StartsWith { .. } | Predicate::Computed(_) => Ok(IndexResult::Keep),
        }
    }

    fn all(&self, parts: &[Predicate], negated: bool) -> Result<IndexResult> {
        let mut result = IndexResult::Keep;
        for part in parts {
            result = result.and(self.test(part, negated)?);
            if result == IndexResult::Skip {
                break;
            }
        }
        Ok(result)
    }

    fn any(&self, parts: &[Predicate], negated: bool) -> Result<IndexResult> {
        let mut result = IndexResult::Skip;
        for part in parts {
            result = result.or(self.test(part, negated)?);
            if result == IndexResult::Keep {
                break;
            }
        }
        Ok(result)
    }

    fn field(&self, id: i32) -> Option<&DataField> {
        self.fields.iter().find(|f| f.id == id)
    }

    fn ask(&self, field: &DataField, question: &Question) -> Result<IndexResult> {
        let mut result = IndexResult::Keep;
        for part in self.file.column(&field.name) {
            result = result.and(ask(part, &field.data_type.kind, question).context("column", &field.name)?);
        }
        Ok(result)
    }
}

/// A comparison, turned around when negated. Floats are not turned around: what is not less than NaN need not be
/// greater or equal.
fn comparison(op: CompareOp, datum: &Datum, kind: &Kind, negated: bool) -> Option<Question> {
    use CompareOp::{Eq, Gt, GtEq, Lt, LtEq, NotEq};
    let op = match (op, negated) {
        (Eq, true) => NotEq,
        (NotEq, true) => Eq,
        (_, true) if matches!(kind, Kind::Float | Kind::Double) => return None,
        (Lt, true) => GtEq,
        (LtEq, true) => Gt,
        (Gt, true) => LtEq,
        (GtEq, true) => Lt,
        (op, false) => op,
    };
    let literal = literal(datum, kind)?;
    Some(match op {
        Eq => Question::Any(zeros(literal.key)),
        NotEq if literal.loose => Question::NotNull,
        NotEq => Question::None(vec![literal.key]),
        // A loose key may stand for the value itself.
        Lt if literal.loose => Question::Compare(LtEq, literal),
        Gt if literal.loose => Question::Compare(GtEq, literal),
        Lt | LtEq => Question::Compare(op, Literal { key: zero(literal.key, 0.0), loose: false }),
        Gt | GtEq => Question::Compare(op, Literal { key: zero(literal.key, -0.0), loose: false }),
    })
}

/// Membership; a literal that no index can hold makes IN unanswerable, and is left out of NOT IN.
fn membership(data: &[Datum], kind: &Kind, negated: bool) -> Option<Question> {
    let literals = data.iter().map(|datum| literal(datum, kind));
    if negated {
        return Some(Question::None(literals.flatten().filter(|l| !l.loose).map(|l| l.key).collect()));
    }
    let keys = literals.map(|l| l.map(|l| zeros(l.key))).collect::<Option<Vec<_>>>()?;
    Some(Question::Any(keys.concat()))
}

/// A key, and for a zero of either sign both zeros.
fn zeros(key: Key) -> Vec<Key> {
    let (plus, minus) = (zero(key.clone(), 0.0), zero(key, -0.0));
    if plus == minus { vec![plus] } else { vec![plus, minus] }
}

/// A float zero as the zero given; any other key as it is.
fn zero(key: Key, zero: f64) -> Key {
    match key {
        Key::Float(order) if order == 0.0f32.order() || order == (-0.0f32).order() => {
            Key::Float((if zero.is_sign_negative() { -0.0f32 } else { 0.0 }).order())
        }
        Key::Double(order) if order == 0.0f64.order() || order == (-0.0f64).order() => Key::Double(zero.order()),
        other => other,
    }
}

fn ask(part: &IndexPart, kind: &Kind, question: &Question) -> Result<IndexResult> {
    let Some(body) = &part.body else {
        // No value was ever written: every row is null.
        return Ok(if matches!(question, Question::Null) { IndexResult::Keep } else { IndexResult::Skip });
    };
    match part.index_type.as_str() {
        BLOOM_FILTER if bloom::supports(kind) => ask_bloom(body, question),
        BITMAP => match Layout::of(kind) {
            Some(layout) => ask_bitmap(&Bitmap::parse(body, layout)?, question),
            None => Ok(IndexResult::Keep),
        },
        BSI if bsi::supports(kind) => Ok(ask_bsi(&Bsi::parse(body)?, question)),
        RANGE_BITMAP => match range::layout(kind) {
            Some(layout) => ask_range(&Range::parse(body, layout)?, question),
            None => Ok(IndexResult::Keep),
        },
        _ => Ok(IndexResult::Keep),
    }
}

fn ask_bloom(body: &[u8], question: &Question) -> Result<IndexResult> {
    let Question::Any(keys) = question else {
        return Ok(IndexResult::Keep);
    };
    let bloom = Bloom::parse(body)?;
    Ok(if keys.iter().any(|key| bloom.may_contain(key)) { IndexResult::Keep } else { IndexResult::Skip })
}

fn ask_bitmap(bitmap: &Bitmap<'_>, question: &Question) -> Result<IndexResult> {
    Ok(IndexResult::of(match question {
        Question::Any(keys) => bitmap.any(keys)?,
        Question::None(keys) => bitmap.none(keys)?,
        Question::Null => bitmap.nulls()?,
        Question::NotNull => bitmap.none(&[])?,
        Question::Compare(..) => return Ok(IndexResult::Keep),
    }))
}

fn ask_bsi(bsi: &Bsi, question: &Question) -> IndexResult {
    let compare = |op, key: &Key| match key {
        Key::Number(n) => bsi.compare(op, *n),
        _ => None,
    };
    let rows = match question {
        Question::Compare(op, literal) => compare(*op, &literal.key),
        Question::Any(keys) => {
            keys.iter().map(|key| compare(CompareOp::Eq, key)).try_fold(RoaringBitmap::new(), |a, b| Some(a | b?))
        }
        Question::None(keys) => {
            keys.iter().map(|key| compare(CompareOp::NotEq, key)).try_fold(bsi.not_null(), |a, b| Some(a & b?))
        }
        Question::Null => Some(bsi.nulls()),
        Question::NotNull => Some(bsi.not_null()),
    };
    rows.map_or(IndexResult::Keep, IndexResult::of)
}

fn ask_range(range: &Range<'_>, question: &Question) -> Result<IndexResult> {
    let rows = match question {
        Question::Compare(op, literal) => range.compare(*op, &literal.key)?,
        Question::Any(keys) => keys.iter().try_fold(RoaringBitmap::new(), |rows, key| {
            Ok::<_, crate::Error>(rows | range.compare(CompareOp::Eq, key)?)
        })?,
        Question::None(keys) => keys.iter().try_fold(range.not_null(), |rows, key| {
            Ok::<_, crate::Error>(rows & range.compare(CompareOp::NotEq, key)?)
        })?,
        Question::Null => range.nulls(),
        Question::NotNull => range.not_null(),
    };
    Ok(IndexResult::of(rows))
}
