//! Points in time that are expressions: `FOR TIMESTAMP AS OF now() - INTERVAL '1' HOUR`.

use datafusion::arrow::array::{Array, AsArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Int64Type, TimeUnit};
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::context::SessionContext;
use datafusion::functions::datetime::now::NowFunc;
use datafusion::logical_expr::ScalarUDF;
use linn::{Error, Result};

use super::functions::functions;
use crate::error::ours;
use crate::parse::{COMPUTED, TableOptions};
use crate::session::Session;

/// Computes the points in time of a statement's tables.
///
/// # Errors
/// `Invalid` for an expression that is not constant, or gives no point in time.
pub(crate) async fn compute(session: &Session, options: &mut TableOptions) -> Result<()> {
    for options in options.each() {
        if let Some(text) = options.remove(COMPUTED) {
            let (key, value) = point(session, &text).await.map_err(|e| e.with("time", &text))?;
            options.set(key, value);
        }
    }
    Ok(())
}

async fn point(session: &Session, text: &str) -> Result<(&'static str, String)> {
    // The current time as a point in time, whatever the zone of the session.
    let mut config = session.context().copied_config();
    config.options_mut().execution.time_zone.get_or_insert_with(|| "+00:00".to_owned());
    let now = NowFunc::new_with_config(config.options());
    let state = SessionStateBuilder::new_from_existing(session.context().state()).with_config(config).build();
    let context = SessionContext::new_with_state(state);
    context.register_udf(ScalarUDF::from(now));
    functions(session).into_iter().for_each(|function| context.register_udf(function));
    let frame = context.sql(&format!("SELECT {text}")).await.map_err(|e| {
        ours(e).with_hint("a point in time is a constant expression, such as now() - INTERVAL '1' HOUR")
    })?;
    let batches = frame.collect().await.map_err(ours)?;
    let column = batches.first().and_then(|batch| batch.columns().first());
    let column = column.filter(|column| column.len() == 1);
    let column = column.ok_or_else(|| Error::invalid("the expression does not return a single value"))?;
    if column.is_null(0) {
        return Err(Error::invalid("the point in time is null"));
    }
    let number = |column: &dyn Array| -> Result<i64> {
        let values = cast(column, &DataType::Int64)?;
        Ok(values.as_primitive::<Int64Type>().value(0))
    };
    Ok(match column.data_type() {
        DataType::Timestamp(_, Some(zone)) => {
            let millis = cast(column, &DataType::Timestamp(TimeUnit::Millisecond, Some(zone.clone())))?;
            ("scan.timestamp-millis", number(&millis)?.to_string())
        }
        // Of a clock on the wall, as in texts.
        DataType::Timestamp(..) | DataType::Date32 | DataType::Date64 => {
            let millis = number(&cast(column, &DataType::Timestamp(TimeUnit::Millisecond, None))?)?;
            let time = chrono::DateTime::from_timestamp_millis(millis);
            let time = time.ok_or_else(|| Error::invalid("the point in time is out of range"))?;
            ("scan.timestamp", time.format("%Y-%m-%d %H:%M:%S%.3f").to_string())
        }
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
            ("scan.timestamp", cast(column, &DataType::Utf8)?.as_string::<i32>().value(0).to_owned())
        }
        kind if kind.is_integer() => ("scan.timestamp-millis", number(column)?.to_string()),
        _ => {
            return Err(Error::invalid(
                "the expression does not return a timestamp, date, text or number of milliseconds",
            ));
        }
    })
}
