//! `year(t)`, `month(t)` and their like: `date_part` under the names that people type.

use datafusion::arrow::datatypes::{DataType, TimeUnit};
use datafusion::common::ScalarValue;
use datafusion::error::{DataFusionError, Result};
use datafusion::functions::datetime::date_part;
use datafusion::logical_expr::simplify::{ExprSimplifyResult, SimplifyContext};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility, lit,
};

/// Names, and the part of a time that each gives.
const PARTS: [(&str, &[&str]); 9] = [
    ("year", &[]),
    ("quarter", &[]),
    ("month", &[]),
    ("week", &["weekofyear"]),
    ("day", &["dayofmonth"]),
    ("doy", &["dayofyear"]),
    ("hour", &[]),
    ("minute", &[]),
    ("second", &[]),
];

pub(super) fn functions() -> Vec<ScalarUDF> {
    let of = |(part, names): (&'static str, &[&str])| {
        let aliases = names.iter().map(|name| (*name).to_owned()).collect();
        ScalarUDF::new_from_impl(Part { part, aliases, signature: Signature::user_defined(Volatility::Immutable) })
    };
    PARTS.into_iter().map(of).collect()
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Part {
    part: &'static str,
    aliases: Vec<String>,
    signature: Signature,
}

impl ScalarUDFImpl for Part {
    fn name(&self) -> &str {
        self.part
    }

    fn aliases(&self) -> &[String] {
        &self.aliases
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _arg_types: &[DataType]) -> Result<DataType> {
        Ok(DataType::Int32)
    }

    fn coerce_types(&self, arg_types: &[DataType]) -> Result<Vec<DataType>> {
        let [given] = arg_types else {
            return Err(DataFusionError::Plan(format!("{} takes one argument", self.part)));
        };
        Ok(vec![match given {
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Null => {
                DataType::Timestamp(TimeUnit::Microsecond, None)
            }
            other => other.clone(),
        }])
    }

    /// What `date_part` is, so that it is planned as well as that is.
    fn simplify(&self, args: Vec<Expr>, _info: &SimplifyContext) -> Result<ExprSimplifyResult> {
        let args = std::iter::once(lit(self.part)).chain(args).collect();
        Ok(ExprSimplifyResult::Simplified(date_part().call(args)))
    }

    fn invoke_with_args(&self, mut args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        args.args.insert(0, ColumnarValue::Scalar(ScalarValue::from(self.part)));
        date_part().invoke_with_args(args)
    }
}
