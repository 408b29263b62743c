//! Explicit casts to types that only Linn knows, and to those of a length: text and bytes are cut to it, times to their digits.

use std::ops::ControlFlow;
use std::sync::Arc;

use datafusion::arrow::array::cast::AsArray;
use datafusion::arrow::array::{ArrayRef, BinaryArray, StringArray};
use datafusion::arrow::compute::{CastOptions, can_cast_types, cast_with_options};
use datafusion::arrow::datatypes::{DataType as Arrow, Field, Schema, TimeUnit};
use datafusion::common::ScalarValue;
use datafusion::error::Result as Planned;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility};
use datafusion::sql::sqlparser::ast::{
    CastKind, DataType as Written, Expr, Statement as Ast, TimezoneInfo, TypedString, Value, VisitMut, VisitorMut,
};
use datafusion::sql::sqlparser::parser::Parser;
use linn::format::limit::floor_seconds;
use linn::format::types::{DataType, Kind, arrow_type, fields_from_arrow};
use linn::{Error, Result};

use super::fit::plain;
use super::second::without_finer;
use crate::error::theirs;
use crate::parse::{DIALECT, own_type};

/// Puts functions in place of the casts that are Linn's, and gives these functions.
///
/// # Errors
/// `Invalid` for text that is no type.
pub(super) fn own_casts(ast: &mut Ast) -> Result<Vec<ScalarUDF>> {
    let mut casts = Casts::default();
    match ast.visit(&mut casts) {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(casts.functions.into_iter().map(ScalarUDF::from).collect()),
    }
}

fn is_time(data_type: &Written) -> bool {
    matches!(data_type, Written::Time(None, TimezoneInfo::None | TimezoneInfo::WithoutTimeZone))
}

fn millis() -> DataType {
    DataType::nullable(Kind::Time(3))
}

/// Whether a text has no more than three digits of a second.
fn in_millis(value: &Value) -> bool {
    let Value::SingleQuotedString(text) = value else { return false };
    let fraction = text.split_once('.').map_or("", |(_, fraction)| fraction);
    fraction.bytes().take_while(u8::is_ascii_digit).count() <= 3
}

#[derive(Default)]
struct Casts {
    functions: Vec<OwnCast>,
}

impl Casts {
    fn replace(&mut self, expr: &mut Expr) -> Result<()> {
        let (inner, to, safe) = match &*expr {
            Expr::Cast { kind, expr: inner, data_type, array: false, format: None } => {
                let safe = matches!(kind, CastKind::TryCast | CastKind::SafeCast);
                let of_day =
                    is_time(data_type) && matches!(inner.as_ref(), Expr::Value(value) if in_millis(&value.value));
                let own = if of_day { Some(millis()) } else { own_type(data_type)? };
                match own {
                    Some(to) => (inner.to_string(), to, safe),
                    None => return Ok(()),
                }
            }
            // Times of day are milliseconds, as those of columns are.
            Expr::TypedString(TypedString { data_type, value, .. })
                if is_time(data_type) && in_millis(&value.value) =>
            {
                (value.to_string(), millis(), false)
            }
            _ => return Ok(()),
        };
        let found = self.functions.iter().find(|known| known.to == to && known.safe == safe);
        let name = match found {
            Some(known) => known.name.clone(),
            None => {
                let name = format!("__linn_cast_{}", self.functions.len());
                let arrow = plain(&arrow_type(&to)?);
                let signature = Signature::any(1, Volatility::Immutable);
                self.functions.push(OwnCast { name: name.clone(), to, arrow, safe, signature });
                name
            }
        };
        let called =
            Parser::new(&DIALECT).try_with_sql(&format!("\"{name}\"({inner})")).and_then(|mut p| p.parse_expr());
        *expr = called.map_err(|e| Error::internal(format!("a cast as a function: {e}")))?;
        Ok(())
    }
}

impl VisitorMut for Casts {
    type Break = Error;

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
        match self.replace(expr) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        }
    }
}

/// A cast to one type.
#[derive(Debug, PartialEq, Eq, Hash)]
struct OwnCast {
    name: String,
    to: DataType,
    arrow: Arrow,
    /// What does not fit is null, as with TRY_CAST.
    safe: bool,
    signature: Signature,
}

impl OwnCast {
    fn cast(&self, values: &ArrayRef) -> Result<ArrayRef> {
        let options = CastOptions { safe: self.safe, ..CastOptions::default() };
        let invalid = |e| Error::invalid(format!("SQL: a value cannot be cast to {}", self.to)).with_source(e);
        if can_cast_types(values.data_type(), &self.arrow) {
            // A cast to a coarser unit cuts toward 1970.
            let mut values = without_finer(values, &self.arrow)?;
            if values.data_type().is_numeric() && self.to.kind == Kind::Timestamp(0) {
                // A number counts the unit of the type.
                values =
                    cast_with_options(&values, &Arrow::Timestamp(TimeUnit::Second, None), &options).map_err(invalid)?;
            }
            let cast = cast_with_options(&values, &self.arrow, &options).map_err(invalid)?;
            return cut(&cast, &self.to);
        }
        let from = fields_from_arrow(&Schema::new(vec![Field::new("value", values.data_type().clone(), true)]))?;
        let from = from.into_iter().next().ok_or_else(|| Error::internal("a value without a type"))?.data_type;
        let own = cast_with_options(values, &arrow_type(&from)?, &options).map_err(invalid)?;
        let cast = linn::format::cast::cast(&own, &from, &self.to)?;
        Ok(cast_with_options(&cast, &self.arrow, &options)?)
    }
}

impl ScalarUDFImpl for OwnCast {
    fn name(&self) -> &str {
        &self.name
    }

    /// A cast is called as what is cast.
    fn schema_name(&self, args: &[datafusion::logical_expr::Expr]) -> Planned<String> {
        Ok(args.first().map_or_else(|| self.name.clone(), |arg| arg.schema_name().to_string()))
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _arg_types: &[Arrow]) -> Planned<Arrow> {
        Ok(self.arrow.clone())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Planned<ColumnarValue> {
        let scalar = args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
        let values = ColumnarValue::values_to_arrays(&args.args)?;
        let value = values.first().ok_or_else(|| theirs(Error::internal("a value to be cast is missing")))?;
        let value = self.cast(value).map_err(theirs)?;
        Ok(match scalar {
            true => ColumnarValue::Scalar(ScalarValue::try_from_array(&value, 0)?),
            false => ColumnarValue::Array(value),
        })
    }
}

/// Values cut to the length or the digits of their type.
fn cut(values: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
    let length = |n: u32| usize::try_from(n).unwrap_or(usize::MAX);
    Ok(match (&to.kind, values.data_type()) {
        (Kind::Char(n) | Kind::Varchar(n), Arrow::Utf8) => {
            let cut = |text| match str::char_indices(text).nth(length(*n)) {
                Some((end, _)) => text.get(..end).unwrap_or(text),
                None => text,
            };
            Arc::new(values.as_string::<i32>().iter().map(|text| text.map(cut)).collect::<StringArray>())
        }
        (Kind::Binary(n) | Kind::Varbinary(n), Arrow::Binary) => {
            let cut = |bytes: &[u8]| bytes.get(..length(*n)).map(<[u8]>::to_vec);
            let bytes = values.as_binary::<i32>().iter();
            Arc::new(bytes.map(|bytes| bytes.map(|b| cut(b).unwrap_or_else(|| b.to_vec()))).collect::<BinaryArray>())
        }
        (Kind::Time(digits) | Kind::Timestamp(digits) | Kind::LocalZonedTimestamp(digits), _) => {
            floor_seconds(values, *digits)?
        }
        _ => Arc::clone(values),
    })
}
