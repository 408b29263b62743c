//! Timestamps of two units side by side. The planner brings the coarser column to the finer unit, then takes that away from the
//! column and cuts the other side instead, which would make `.123` equal to `.1234`. So the other side is brought to the unit of
//! the column here, where that changes no answer, and else the column by a function that the planner does not take away.

use std::sync::Arc;

use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::array::cast::AsArray;
use datafusion::arrow::compute::{CastOptions, cast_with_options};
use datafusion::arrow::datatypes::{DataType, Int64Type, TimeUnit};
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::error::Result as Planned;
use datafusion::logical_expr::expr::{Cast, ScalarFunction};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ExprSchemable, Operator, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

/// Both sides of a comparison in one unit.
pub(super) fn compared(left: Expr, op: Operator, right: Expr, schema: &DFSchema) -> (Expr, Expr) {
    let mut sides = alike_literals(vec![left, right], schema);
    let (Some(right), Some(left)) = (sides.pop(), sides.pop()) else { return no_sides() };
    match (unit(&left, schema), unit(&right, schema)) {
        (Some(coarse), Some(fine)) if coarse < fine && !is_constant(&left) && orders(op) => {
            let right = rounded(right, coarse, op, schema);
            (left, right)
        }
        (Some(fine), Some(coarse)) if coarse < fine && !is_constant(&right) && orders(op) => {
            let swapped = op.swap().unwrap_or(op);
            (rounded(left, coarse, swapped, schema), right)
        }
        _ => {
            let mut sides = finest(vec![left, right], schema);
            match (sides.pop(), sides.pop()) {
                (Some(right), Some(left)) => (left, right),
                _ => no_sides(),
            }
        }
    }
}

/// Several expressions that are compared, or of which one is the result, in one unit.
pub(super) fn alike(exprs: Vec<Expr>, schema: &DFSchema) -> Vec<Expr> {
    finest(alike_literals(exprs, schema), schema)
}

fn no_sides() -> (Expr, Expr) {
    (Expr::Literal(ScalarValue::Null, None), Expr::Literal(ScalarValue::Null, None))
}

fn orders(op: Operator) -> bool {
    matches!(op, Operator::Lt | Operator::LtEq | Operator::Gt | Operator::GtEq)
}

/// `column < value` holds where the column is below the value rounded up, and so on.
fn rounded(value: Expr, to: Unit, op: Operator, schema: &DFSchema) -> Expr {
    let how = if matches!(op, Operator::Lt | Operator::GtEq) { Rounding::Up } else { Rounding::Down };
    brought(value, to, how, schema)
}

/// Texts that stand there become values of the unit that the columns have, if they have no more digits, else of one that holds
/// these.
fn alike_literals(exprs: Vec<Expr>, schema: &DFSchema) -> Vec<Expr> {
    let columns = exprs.iter().filter(|expr| !is_constant(expr)).filter_map(|expr| unit(expr, schema));
    let Some(coarsest) = columns.min() else { return exprs };
    let zone = exprs.iter().find_map(|expr| match expr.get_type(schema) {
        Ok(DataType::Timestamp(_, zone)) if !is_constant(expr) => Some(zone),
        _ => None,
    });
    let settled = |expr: Expr| {
        let (text, given) = match &expr {
            Expr::Cast(Cast { expr: inner, field }) => match (text(inner), field.data_type()) {
                (Some(text), DataType::Timestamp(_, zone)) => (text.to_owned(), zone.clone()),
                _ => return expr,
            },
            bare => match (text(bare), &zone) {
                (Some(text), Some(zone)) => (text.to_owned(), zone.clone()),
                _ => return expr,
            },
        };
        let bare = matches!(expr, Expr::Literal(..));
        let digits = digits(&text);
        let unit = if digits <= coarsest.digits() { coarsest } else { Unit::holding(digits) };
        if bare && unit == coarsest {
            return expr;
        }
        let literal = Box::new(Expr::Literal(ScalarValue::Utf8(Some(text)), None));
        Expr::Cast(Cast::new(literal, DataType::Timestamp(unit.arrow(), given)))
    };
    exprs.into_iter().map(settled).collect()
}

/// Timestamps of coarser units are brought to the finest.
fn finest(exprs: Vec<Expr>, schema: &DFSchema) -> Vec<Expr> {
    let units: Vec<Option<Unit>> = exprs.iter().map(|expr| unit(expr, schema)).collect();
    let Some(finest) = units.iter().flatten().max().copied() else { return exprs };
    let brought = |(expr, unit): (Expr, Option<Unit>)| match unit {
        Some(unit) if unit < finest && !is_constant(&expr) => brought(expr, finest, Rounding::Exactly, schema),
        _ => expr,
    };
    exprs.into_iter().zip(units).map(brought).collect()
}

fn is_constant(expr: &Expr) -> bool {
    expr.column_refs().is_empty() && !expr.contains_outer()
}

fn text(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Literal(ScalarValue::Utf8(Some(text)) | ScalarValue::Utf8View(Some(text)), _) => Some(text),
        _ => None,
    }
}

/// Digits of a second that are not zeros at the end.
fn digits(text: &str) -> usize {
    let fraction = text.split_once('.').map_or("", |(_, fraction)| fraction);
    let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
    fraction.get(..digits).unwrap_or_default().trim_end_matches('0').len()
}

/// A unit of timestamps, the coarser the less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Unit {
    Second,
    Milli,
    Micro,
    Nano,
}

impl Unit {
    fn arrow(self) -> TimeUnit {
        match self {
            Self::Second => TimeUnit::Second,
            Self::Milli => TimeUnit::Millisecond,
            Self::Micro => TimeUnit::Microsecond,
            Self::Nano => TimeUnit::Nanosecond,
        }
    }

    fn of(unit: TimeUnit) -> Self {
        match unit {
            TimeUnit::Second => Self::Second,
            TimeUnit::Millisecond => Self::Milli,
            TimeUnit::Microsecond => Self::Micro,
            TimeUnit::Nanosecond => Self::Nano,
        }
    }

    fn digits(self) -> usize {
        match self {
            Self::Second => 0,
            Self::Milli => 3,
            Self::Micro => 6,
            Self::Nano => 9,
        }
    }

    fn holding(digits: usize) -> Self {
        if digits <= 6 { Self::Micro } else { Self::Nano }
    }

    /// How many there are in a second.
    fn scale(self) -> i64 {
        match self {
            Self::Second => 1,
            Self::Milli => 1_000,
            Self::Micro => 1_000_000,
            Self::Nano => 1_000_000_000,
        }
    }
}

fn unit(expr: &Expr, schema: &DFSchema) -> Option<Unit> {
    match expr.get_type(schema) {
        Ok(DataType::Timestamp(unit, _)) => Some(Unit::of(unit)),
        _ => None,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Rounding {
    Up,
    Down,
    /// To a finer unit.
    Exactly,
}

fn brought(expr: Expr, to: Unit, how: Rounding, schema: &DFSchema) -> Expr {
    let Ok(DataType::Timestamp(from, zone)) = expr.get_type(schema) else { return expr };
    let to = DataType::Timestamp(to.arrow(), zone);
    let func = Brought { to, from: Unit::of(from), how, signature: Signature::any(1, Volatility::Immutable) };
    Expr::ScalarFunction(ScalarFunction { func: Arc::new(ScalarUDF::from(func)), args: vec![expr] })
}

/// A timestamp in another unit.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Brought {
    to: DataType,
    from: Unit,
    how: Rounding,
    signature: Signature,
}

impl Brought {
    fn values(&self, values: &ArrayRef) -> Planned<ArrayRef> {
        let strict = CastOptions { safe: false, ..CastOptions::default() };
        let DataType::Timestamp(unit, _) = &self.to else { return Ok(Arc::clone(values)) };
        if self.how == Rounding::Exactly {
            return Ok(cast_with_options(values, &self.to, &strict)?);
        }
        let factor = (self.from.scale() / Unit::of(*unit).scale()).max(1);
        let whole = cast_with_options(values, &DataType::Int64, &strict)?;
        let round = |value: i64| {
            let more = self.how == Rounding::Up && value.rem_euclid(factor) != 0;
            value.div_euclid(factor).saturating_add(i64::from(more))
        };
        let whole: ArrayRef = Arc::new(whole.as_primitive::<Int64Type>().unary::<_, Int64Type>(round));
        Ok(cast_with_options(&whole, &self.to, &strict)?)
    }
}

impl ScalarUDFImpl for Brought {
    fn name(&self) -> &str {
        match self.how {
            Rounding::Up => "round_up",
            Rounding::Down => "round_down",
            Rounding::Exactly => "finer",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _arg_types: &[DataType]) -> Planned<DataType> {
        Ok(self.to.clone())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Planned<ColumnarValue> {
        match args.args.first() {
            Some(ColumnarValue::Scalar(value)) => {
                let value = self.values(&value.to_array()?)?;
                Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&value, 0)?))
            }
            Some(ColumnarValue::Array(values)) => Ok(ColumnarValue::Array(self.values(values)?)),
            None => Ok(ColumnarValue::Scalar(ScalarValue::Null)),
        }
    }
}
