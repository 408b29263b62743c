//! Functions that tell about the session.

use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::{ColumnarValue, ScalarUDF, Volatility, create_udf};

use crate::session::{CATALOG, Session};

/// The functions of a session as it is now.
pub(super) fn functions(session: &Session) -> Vec<ScalarUDF> {
    let database = session.database();
    [
        ("current_database", database.clone()),
        ("current_schema", database),
        ("current_catalog", CATALOG.to_owned()),
        ("version", format!("Linn {}", env!("CARGO_PKG_VERSION"))),
    ]
    .into_iter()
    .map(|(name, value)| constant(name, value))
    .collect()
}

fn constant(name: &str, value: String) -> ScalarUDF {
    let answer = move |_: &[ColumnarValue]| Ok(ColumnarValue::Scalar(ScalarValue::Utf8(Some(value.clone()))));
    create_udf(name, Vec::new(), DataType::Utf8, Volatility::Stable, Arc::new(answer))
}
