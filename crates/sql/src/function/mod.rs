//! Functions that people type and DataFusion lacks, or knows by other patterns: `date_format(t, 'yyyy-MM')` with the patterns
//! of Java, `to_char(t, 'YYYY-MM')` with those of PostgreSQL, `to_date(s, 'yyyyMMdd')`, `year(t)` and its like.

mod part;
mod pattern;
mod patterned;
mod show;

use datafusion::logical_expr::ScalarUDF;

/// The functions, which replace DataFusion's of the same names.
pub(crate) fn functions() -> Vec<ScalarUDF> {
    let mut all = patterned::functions();
    all.extend(part::functions());
    all
}
