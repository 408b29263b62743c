//! Functions of DataFusion whose patterns are spelled otherwise, and which take dates as text.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, AsArray, StringArray};
use datafusion::arrow::compute::{CastOptions, cast, cast_with_options};
use datafusion::arrow::datatypes::{DataType, TimeUnit};
use datafusion::common::ScalarValue;
use datafusion::error::Result;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility};

use super::pattern::{Spelling, chrono};
use super::show::show;

pub(super) fn functions() -> Vec<ScalarUDF> {
    use datafusion::functions::datetime::{to_char, to_date, to_timestamp};
    let of = |name, inner: Arc<ScalarUDF>, spelling, shows| {
        let signature = match shows {
            true => Signature::any(2, Volatility::Immutable),
            false => inner.signature().clone(),
        };
        ScalarUDF::new_from_impl(Patterned { name, inner, spelling, shows, signature })
    };
    vec![
        of("to_char", to_char(), Spelling::PostgreSql, true),
        of("date_format", to_char(), Spelling::Java, true),
        of("to_date", to_date(), Spelling::Java, false),
        of("to_timestamp", to_timestamp(&Default::default()), Spelling::Java, false),
    ]
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Patterned {
    name: &'static str,
    inner: Arc<ScalarUDF>,
    spelling: Spelling,
    /// Whether a time is shown as text, not read from it.
    shows: bool,
    signature: Signature,
}

impl ScalarUDFImpl for Patterned {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        if self.shows { Ok(DataType::Utf8) } else { self.inner.return_type(arg_types) }
    }

    fn invoke_with_args(&self, mut args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let mut values = std::mem::take(&mut args.args).into_iter();
        let first = values.next().map(|value| if self.shows { time(value) } else { Ok(value) });
        let patterns = values.map(|pattern| self.pattern(pattern));
        args.args = first.into_iter().chain(patterns).collect::<Result<_>>()?;
        if let (true, [ColumnarValue::Array(times), ColumnarValue::Scalar(pattern)]) =
            (self.shows, args.args.as_slice())
            && let (Some(times), Some(Some(pattern))) = (times.as_primitive_opt(), pattern.try_as_str())
            && let Some(shown) = show(times, pattern)
        {
            return Ok(ColumnarValue::Array(Arc::new(shown)));
        }
        self.inner.invoke_with_args(args)
    }
}

impl Patterned {
    fn pattern(&self, value: ColumnarValue) -> Result<ColumnarValue> {
        Ok(match value {
            ColumnarValue::Scalar(scalar) => {
                let text = scalar.try_as_str().flatten().map(|text| chrono(text, self.spelling)).transpose()?;
                ColumnarValue::Scalar(ScalarValue::Utf8(text))
            }
            ColumnarValue::Array(array) => {
                let array = cast(&array, &DataType::Utf8)?;
                let spelled = array
                    .as_string::<i32>()
                    .iter()
                    .map(|text| text.map(|text| chrono(text, self.spelling)).transpose());
                ColumnarValue::Array(Arc::new(spelled.collect::<Result<StringArray>>()?))
            }
        })
    }
}

/// Dates and text as times; text that is none is null.
fn time(value: ColumnarValue) -> Result<ColumnarValue> {
    let micros = DataType::Timestamp(TimeUnit::Microsecond, None);
    let safe = CastOptions { safe: true, ..CastOptions::default() };
    let convert = |array: &ArrayRef| -> Result<ArrayRef> {
        Ok(match array.data_type() {
            DataType::Date32
            | DataType::Date64
            | DataType::Utf8
            | DataType::LargeUtf8
            | DataType::Utf8View
            | DataType::Null => cast_with_options(array, &micros, &safe)?,
            _ => Arc::clone(array),
        })
    };
    Ok(match value {
        ColumnarValue::Array(array) => ColumnarValue::Array(convert(&array)?),
        ColumnarValue::Scalar(scalar) => {
            ColumnarValue::Scalar(ScalarValue::try_from_array(&convert(&scalar.to_array()?)?, 0)?)
        }
    })
}
