//! `SUMMARIZE`: one row for each column of a table or query, from one pass over its rows.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, Int64Builder, RecordBatch, StringBuilder};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::arrow::util::display::array_value_to_string;
use datafusion::functions_aggregate::expr_fn::{approx_distinct, approx_percentile_cont, avg, count, max, min, stddev};
use datafusion::logical_expr::{Expr, cast as to, ident, lit};
use datafusion::prelude::DataFrame;
use datafusion::sql::sqlparser::ast::Statement as Ast;
use datafusion::sql::sqlparser::tokenizer::TokenWithSpan;
use futures::StreamExt;
use linn::{Error, Result};

use super::kind::spelled;
use super::query::{frame, parse};
use crate::error::ours;
use crate::parse::TableOptions;
use crate::session::{Output, Session};

/// What is said of a column, beside its name and type.
const TEXTS: [&str; 8] = ["min", "max", "approx_unique", "avg", "std", "q25", "q50", "q75"];

pub(super) async fn summarize(session: &Session, query: Vec<TokenWithSpan>, options: &TableOptions) -> Result<Output> {
    let ast = parse(query)?;
    if !matches!(ast, Ast::Query(_)) {
        return Err(Error::invalid("SUMMARIZE takes a table or a query"));
    }
    let frame = frame(session, ast, options).await?;
    let fields: Vec<Arc<Field>> = frame.schema().fields().iter().cloned().collect();
    if fields.is_empty() {
        return Err(Error::invalid("the query has no columns"));
    }
    let row = measured(frame, &fields).await?;
    let batch = turned(&row, &fields)?;
    Ok(Output::Rows { schema: batch.schema(), stream: futures::stream::iter([Ok(batch)]).boxed() })
}

/// Whether values have an order and a text.
fn is_plain(data_type: &DataType) -> bool {
    !data_type.is_nested() && !matches!(data_type, DataType::Null | DataType::Interval(_))
}

/// The measures of all columns in one row, ten for each: those of `TEXTS`, how many are not null, how many there are.
async fn measured(frame: DataFrame, fields: &[Arc<Field>]) -> Result<RecordBatch> {
    // Names of their own, as those of a query may stand for two columns.
    let names: Vec<String> = (0..fields.len()).map(|at| format!("c{at}")).collect();
    let renamed: Vec<Expr> = frame
        .schema()
        .iter()
        .zip(&names)
        .map(|((relation, field), name)| Expr::from((relation, field)).alias(name))
        .collect();
    let frame = frame.select(renamed).map_err(ours)?;
    let nothing = || lit(datafusion::common::ScalarValue::Utf8(None));
    let mut measures = Vec::with_capacity(fields.len() * (TEXTS.len() + 2));
    let mut aggregates = Vec::new();
    for (field, name) in fields.iter().zip(&names) {
        let column = ident(name);
        let mut add = |aggregate: Option<Expr>| match aggregate {
            Some(aggregate) => {
                let alias = format!("m{}", aggregates.len());
                measures.push(ident(&alias));
                aggregates.push(aggregate.alias(alias));
            }
            None => measures.push(nothing()),
        };
        let (plain, data_type) = (is_plain(field.data_type()), field.data_type());
        let boolean = *data_type == DataType::Boolean;
        let number = data_type.is_numeric();
        let double = || to(column.clone(), DataType::Float64);
        add(plain.then(|| min(column.clone())));
        add(plain.then(|| max(column.clone())));
        add(plain.then(|| approx_distinct(to(column.clone(), DataType::Utf8))));
        add(number.then(|| avg(double())));
        add(number.then(|| stddev(double())));
        let between = |part: f64| {
            let order = double().sort(true, false);
            approx_percentile_cont(order, lit(part), None)
        };
        for part in [0.25, 0.5, 0.75] {
            add((number && !boolean).then(|| between(part)));
        }
        add(Some(count(column.clone())));
        add(Some(count(lit(1i64))));
    }
    let frame = frame.aggregate(Vec::new(), aggregates).map_err(ours)?;
    let last: Vec<Expr> = measures.into_iter().enumerate().map(|(at, e)| e.alias(format!("r{at}"))).collect();
    let frame = frame.select(last).map_err(ours)?;
    let schema = Arc::clone(frame.schema().inner());
    let batches = frame.collect().await.map_err(ours)?;
    let batch = datafusion::arrow::compute::concat_batches(&schema, &batches)?;
    if batch.num_rows() == 1 { Ok(batch) } else { Err(Error::internal("the measures are not one row")) }
}

/// The one row of measures as a row for each column.
fn turned(row: &RecordBatch, fields: &[Arc<Field>]) -> Result<RecordBatch> {
    let width = TEXTS.len() + 2;
    let mut columns: Vec<ArrayRef> = Vec::new();
    let text = |values: Vec<Option<String>>| -> ArrayRef {
        let mut builder = StringBuilder::new();
        values.into_iter().for_each(|value| builder.append_option(value));
        Arc::new(builder.finish())
    };
    columns.push(text(fields.iter().map(|field| Some(field.name().clone())).collect()));
    columns.push(text(fields.iter().map(|field| Some(spelled(field.data_type()))).collect()));
    let mut schema =
        vec![Field::new("column_name", DataType::Utf8, false), Field::new("column_type", DataType::Utf8, false)];
    for (at, name) in TEXTS.iter().enumerate() {
        let values =
            (0..fields.len()).map(|column| shown(row.columns().get(column * width + at))).collect::<Result<_>>()?;
        if *name == "approx_unique" {
            let values: Vec<Option<String>> = values;
            let mut numbers = Int64Builder::new();
            values.iter().for_each(|value| numbers.append_option(value.as_ref().and_then(|text| text.parse().ok())));
            columns.push(Arc::new(numbers.finish()));
            schema.push(Field::new(*name, DataType::Int64, true));
        } else {
            columns.push(text(values));
            schema.push(Field::new(*name, DataType::Utf8, true));
        }
    }
    let (mut counts, mut shares) = (Int64Builder::new(), Vec::new());
    for column in 0..fields.len() {
        let number = |at: usize| -> Result<i64> {
            let text = shown(row.columns().get(column * width + at))?;
            Ok(text.and_then(|text| text.parse().ok()).unwrap_or_default())
        };
        let (there, all) = (number(TEXTS.len())?, number(TEXTS.len() + 1)?);
        counts.append_value(all);
        shares.push((all > 0).then(|| share(all - there, all)));
    }
    columns.push(Arc::new(counts.finish()));
    schema.push(Field::new("count", DataType::Int64, false));
    columns.push(cast(&text(shares), &DataType::Decimal128(9, 2))?);
    schema.push(Field::new("null_percentage", DataType::Decimal128(9, 2), true));
    Ok(RecordBatch::try_new(Arc::new(Schema::new(schema)), columns)?)
}

/// A part of a whole in hundredths of a percent, rounded, as text.
fn share(part: i64, whole: i64) -> String {
    let scaled = (i128::from(part) * 20_000 + i128::from(whole)) / (2 * i128::from(whole).max(1));
    format!("{}.{:02}", scaled / 100, scaled % 100)
}

fn shown(column: Option<&ArrayRef>) -> Result<Option<String>> {
    let column = column.ok_or_else(|| Error::internal("a measure is missing"))?;
    if column.is_null(0) { Ok(None) } else { Ok(Some(array_value_to_string(column, 0)?)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_rounded() {
        for (part, whole, expected) in [(1, 3, "33.33"), (2, 3, "66.67"), (0, 5, "0.00"), (5, 5, "100.00")] {
            assert_eq!(share(part, whole), expected);
        }
    }
}
