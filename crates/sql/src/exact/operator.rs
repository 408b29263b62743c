//! `+`, `-`, `*`, `/`, `%` and the sign of integers and decimals: the result is exact within its type, or an error that says
//! which expression has left it.

use datafusion::arrow::array::cast::AsArray;
use datafusion::arrow::array::{Array, ArrayRef, Datum};
use datafusion::arrow::compute::kernels::numeric;
use datafusion::arrow::datatypes::{DataType, Decimal128Type, Decimal256Type};
use datafusion::arrow::error::ArrowError;
use datafusion::common::ScalarValue;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{
    ColumnarValue, Expr, Operator, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};

use super::sql_name;

/// What is done with one value or two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Operation {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    Negate,
}

impl Operation {
    /// What an operator does, if it is one of these.
    pub(super) fn of(operator: Operator) -> Option<Self> {
        Some(match operator {
            Operator::Plus => Self::Add,
            Operator::Minus => Self::Subtract,
            Operator::Multiply => Self::Multiply,
            Operator::Divide => Self::Divide,
            Operator::Modulo => Self::Modulo,
            _ => return None,
        })
    }

    fn name(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Subtract => "subtract",
            Self::Multiply => "multiply",
            Self::Divide => "divide",
            Self::Modulo => "modulo",
            Self::Negate => "negate",
        }
    }

    fn sign(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract | Self::Negate => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Modulo => "%",
        }
    }

    fn compute(self, left: &dyn Datum, right: &dyn Datum) -> std::result::Result<ArrayRef, ArrowError> {
        match self {
            Self::Add => numeric::add(left, right),
            Self::Subtract => numeric::sub(left, right),
            Self::Multiply => numeric::mul(left, right),
            Self::Divide => numeric::div(left, right),
            Self::Modulo => numeric::rem(left, right),
            Self::Negate => numeric::neg(left.get().0),
        }
    }
}

/// An operation that is checked.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Checked {
    operation: Operation,
    kind: DataType,
    /// The expression, for errors.
    text: String,
    signature: Signature,
}

impl Checked {
    /// An operation whose result is of this type.
    pub(super) fn new(operation: Operation, kind: DataType, text: String) -> Self {
        let arguments = if operation == Operation::Negate { 1 } else { 2 };
        Self { operation, kind, text, signature: Signature::any(arguments, Volatility::Immutable) }
    }

    fn error(&self, error: ArrowError) -> DataFusionError {
        let kind = sql_name(&self.kind);
        match error {
            ArrowError::DivideByZero => DataFusionError::Execution(format!("division by zero in {}", self.text)),
            ArrowError::ArithmeticOverflow(what) => {
                // The kernels tell decimals without their points.
                let values = what.split_once("on: ").filter(|_| self.kind.is_integer());
                let values = values.map(|(_, values)| format!(": {values}")).unwrap_or_default();
                DataFusionError::Execution(format!("{kind} overflow in {}{values}", self.text))
            }
            other => other.into(),
        }
    }

    /// The values fit the type; the kernels look at the bits of decimals alone, not at their digits.
    fn check(&self, result: &ArrayRef) -> Result<()> {
        let fits = match *result.data_type() {
            DataType::Decimal128(precision @ 38, _) => {
                result.as_primitive::<Decimal128Type>().validate_decimal_precision(precision)
            }
            DataType::Decimal256(precision @ 76, _) => {
                result.as_primitive::<Decimal256Type>().validate_decimal_precision(precision)
            }
            _ => Ok(()),
        };
        fits.map_err(|_| DataFusionError::Execution(format!("{} overflow in {}", sql_name(&self.kind), self.text)))
    }
}

impl ScalarUDFImpl for Checked {
    fn name(&self) -> &str {
        self.operation.name()
    }

    /// That of the operator, so that columns are called the same.
    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        Ok(match args {
            [only] => format!("(- {})", only.schema_name()),
            [left, right] => format!("{} {} {}", left.schema_name(), self.operation.sign(), right.schema_name()),
            _ => self.text.clone(),
        })
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _arg_types: &[DataType]) -> Result<DataType> {
        Ok(self.kind.clone())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let scalar = args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
        let datums = args.args.iter().map(datum).collect::<Result<Vec<_>>>()?;
        let result = match datums.as_slice() {
            [only] => self.operation.compute(only.as_ref(), only.as_ref()),
            [left, right] => self.operation.compute(left.as_ref(), right.as_ref()),
            _ => return Err(DataFusionError::Internal(format!("{} takes one value or two", self.name()))),
        };
        let result = result.map_err(|e| self.error(e))?;
        self.check(&result)?;
        Ok(match scalar {
            true => ColumnarValue::Scalar(ScalarValue::try_from_array(&result, 0)?),
            false => ColumnarValue::Array(result),
        })
    }
}

fn datum(value: &ColumnarValue) -> Result<Box<dyn Datum>> {
    Ok(match value {
        ColumnarValue::Array(array) => Box::new(std::sync::Arc::clone(array)),
        ColumnarValue::Scalar(scalar) => Box::new(scalar.to_scalar()?),
    })
}
