//! Functions that bring a value to the type of a column within a query, as an assignment does: where the values of several
//! expressions become one column, none of them is brought to a type in between that would not hold it.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType as Arrow, Field};
use datafusion::error::Result as Planned;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility};
use linn::Result;
use linn::format::types::{DataField, arrow_type};

use super::assign::assign;
use crate::error::theirs;

/// How the names of these functions begin; no other has such a one.
const PREFIX: &str = "__linn_fit_";

/// The name of the function for a column.
pub(super) fn name(column: usize) -> String {
    format!("{PREFIX}{column}")
}

/// Whether this is the name of one of them.
pub(super) fn is_one(name: &str) -> bool {
    name.starts_with(PREFIX)
}

/// The functions for the columns of a table.
///
/// # Errors
/// `Invalid` for a column that has no Arrow type.
pub(super) fn functions(fields: &[DataField]) -> Result<Vec<ScalarUDF>> {
    let one = |(at, field): (usize, &DataField)| {
        let to = plain(&arrow_type(&field.data_type)?);
        let signature = Signature::any(1, Volatility::Immutable);
        Ok(ScalarUDF::from(Fit { name: name(at), field: field.clone(), to, signature }))
    };
    fields.iter().enumerate().map(one).collect()
}

/// A type without the ids of its parts, which kernels do not keep.
pub(super) fn plain(data_type: &Arrow) -> Arrow {
    let field = |field: &Arc<Field>| -> Arc<Field> {
        Arc::new(Field::new(field.name(), plain(field.data_type()), field.is_nullable()))
    };
    match data_type {
        Arrow::List(item) => Arrow::List(field(item)),
        Arrow::FixedSizeList(item, length) => Arrow::FixedSizeList(field(item), *length),
        Arrow::Map(entries, sorted) => Arrow::Map(field(entries), *sorted),
        Arrow::Struct(fields) => Arrow::Struct(fields.iter().map(field).collect()),
        other => other.clone(),
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Fit {
    name: String,
    field: DataField,
    to: Arrow,
    signature: Signature,
}

impl ScalarUDFImpl for Fit {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _arg_types: &[Arrow]) -> Planned<Arrow> {
        Ok(self.to.clone())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Planned<ColumnarValue> {
        let values = ColumnarValue::values_to_arrays(&args.args)?;
        let value = values.first().ok_or_else(|| theirs(linn::Error::internal("a value to be assigned is missing")))?;
        let value = assign(value, &self.field, &self.to).map_err(theirs)?;
        // One value stands for all rows where nothing else says how many there are.
        match args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_))) {
            true => Ok(ColumnarValue::Scalar(datafusion::common::ScalarValue::try_from_array(&value, 0)?)),
            false => Ok(ColumnarValue::Array(Arc::clone(&value))),
        }
    }
}
