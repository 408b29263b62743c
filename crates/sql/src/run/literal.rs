//! Numbers as they stand in a statement: those that the planner cannot take for decimals, and those of VALUES, which go as a
//! column to where they are wanted.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    CastKind, DataType, ExactNumberInfo, Expr, Query, SetExpr, Statement as Ast, UnaryOperator, Value, Values,
    VisitMut, VisitorMut,
};
use linn::format::types::{DataField, Kind};

/// Digits of the longest DECIMAL.
const DIGITS: usize = 38;
/// Digits that every DOUBLE holds.
pub(super) const DOUBLE_DIGITS: usize = 15;

/// Makes decimals of the numbers of VALUES whose columns go to DECIMAL among `fields`, which are in the order of the columns,
/// and doubles of those that go to FLOAT and DOUBLE.
pub(super) fn fit_values(ast: &mut Ast, fields: &[&DataField]) {
    let Ast::Query(query) = ast else { return };
    let SetExpr::Values(values) = query.body.as_mut() else { return };
    for (at, field) in fields.iter().enumerate() {
        match field.data_type.kind {
            Kind::Decimal { .. } => fit(values, at, true),
            Kind::Float | Kind::Double => fit(values, at, false),
            _ => {}
        }
    }
}

/// Makes doubles of what no DECIMAL holds, or what is written with an exponent, and decides on the other VALUES. The texts
/// of numbers that became doubles.
pub(super) fn prepare(ast: &mut Ast) -> Vec<String> {
    let mut numbers = Prepare::default();
    let _: ControlFlow<()> = ast.visit(&mut numbers);
    numbers.doubles
}

#[derive(Default)]
struct Prepare {
    doubles: Vec<String>,
}

impl VisitorMut for Prepare {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        if let SetExpr::Values(values) = query.body.as_mut() {
            let columns = values.rows.first().map_or(0, |row| row.content.len());
            for at in 0..columns {
                let texts = values.rows.iter().filter_map(|row| row.content.get(at).and_then(number)?);
                let long = texts.into_iter().any(|text| digits(&text) > DOUBLE_DIGITS);
                fit(values, at, long);
            }
        }
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if let Expr::Value(value) = &*expr
            && let Value::Number(text, _) = &value.value
            && (text.contains(['e', 'E']) || digits(text) > DIGITS)
        {
            let text = text.replace('_', "");
            self.doubles.push(text.clone());
            *expr = cast(text, DataType::Double(ExactNumberInfo::None));
        }
        ControlFlow::Continue(())
    }
}

/// Casts the numbers of a column of VALUES, if one is no integer, to one type; to doubles where no DECIMAL holds all. Beside
/// anything else than numbers and nulls each has a type of its own.
fn fit(values: &mut Values, at: usize, exact: bool) {
    let texts: Vec<Option<Option<String>>> =
        values.rows.iter().map(|row| row.content.get(at).and_then(number)).collect();
    let pointed = |text: &String| text.contains(['.', 'e', 'E']);
    if !texts.iter().flatten().flatten().any(pointed) {
        return;
    }
    let together = texts.iter().all(Option::is_some);
    let common = scale(texts.iter().flatten().flatten());
    for (row, text) in values.rows.iter_mut().zip(texts) {
        let (Some(place), Some(Some(text))) = (row.content.get_mut(at), text) else { continue };
        let fits =
            if together { common.map(|scale| (DIGITS, scale)) } else { scale([&text]).map(|own| (digits(&text), own)) };
        if together || pointed(&text) {
            let data_type = match fits.filter(|_| exact) {
                Some((digits, scale)) => {
                    DataType::Decimal(ExactNumberInfo::PrecisionAndScale(digits as u64, scale as i64))
                }
                None => DataType::Double(ExactNumberInfo::None),
            };
            *place = cast(text, data_type);
        }
    }
}

/// The text of a number, with its sign; of null nothing. `None` for all else.
fn number(expr: &Expr) -> Option<Option<String>> {
    match expr {
        Expr::Value(value) => match &value.value {
            Value::Number(text, _) => Some(Some(text.replace('_', ""))),
            Value::Null => Some(None),
            _ => None,
        },
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => Some(Some(format!("-{}", number(expr)??))),
        _ => None,
    }
}

fn digits(text: &str) -> usize {
    text.bytes().filter(u8::is_ascii_digit).count()
}

/// The digits behind the point that hold all numbers; `None` when a DECIMAL has no room for them, or one has an exponent.
fn scale<'a>(texts: impl IntoIterator<Item = &'a String>) -> Option<usize> {
    let (mut before, mut behind) = (0, 0);
    for text in texts {
        if text.contains(['e', 'E']) {
            return None;
        }
        let (whole, rest) = text.trim_start_matches('-').split_once('.').unwrap_or((text, ""));
        (before, behind) = (before.max(whole.len()), behind.max(rest.len()));
    }
    (before + behind <= DIGITS).then_some(behind)
}

fn cast(text: String, data_type: DataType) -> Expr {
    let text = Expr::Value(Value::SingleQuotedString(text).with_empty_span());
    Expr::Cast { kind: CastKind::Cast, expr: Box::new(text), data_type, array: false, format: None }
}
