//! Expressions: those that the planner would read otherwise than they are written, and the clauses of functions.

use datafusion::sql::sqlparser::ast::{
    BinaryOperator, CeilFloorKind, DuplicateTreatment, Expr, Function, FunctionArg, FunctionArgExpr,
    FunctionArgumentClause, FunctionArgumentList, FunctionArguments, WindowType,
};
use linn::{Error, Result};

use super::{Called, none, query, unsupported};

/// Aggregates that see different values once with DISTINCT, or of which the result is the same.
const DISTINCT: &[&str] = &[
    "any_value",
    "approx_distinct",
    "approx_median",
    "array_agg",
    "avg",
    "bit_and",
    "bit_or",
    "bit_xor",
    "bool_and",
    "bool_or",
    "count",
    "every",
    "first_value",
    "last_value",
    "max",
    "mean",
    "median",
    "min",
    "percentile_cont",
    "string_agg",
    "sum",
    "var",
    "var_pop",
    "var_population",
    "var_samp",
    "var_sample",
];

/// Checks one expression, not those inside.
pub(super) fn check(expr: &Expr, functions: &dyn Fn(&str) -> Called) -> Result<()> {
    match expr {
        Expr::Function(it) => function(it, functions),
        Expr::BinaryOp { left: _, op, right: _ } => none(
            matches!(
                op,
                BinaryOperator::BitwiseXor | BinaryOperator::PGExp | BinaryOperator::Xor | BinaryOperator::Assignment
            ),
            &format!("the operator {op}"),
        )
        .map_err(|e| e.with_hint("use power(a, b) for powers")),
        Expr::Like { negated: _, any, expr: _, pattern: _, escape_char: _ }
        | Expr::ILike { negated: _, any, expr: _, pattern: _, escape_char: _ } => none(*any, "LIKE ANY"),
        Expr::SimilarTo { .. } => Err(unsupported("SIMILAR TO").with_hint("use LIKE, or ~ with a regular expression")),
        Expr::RLike { .. } => Err(unsupported("RLIKE and REGEXP").with_hint("use ~ or regexp_like(text, pattern)")),
        Expr::Cast { kind: _, expr: _, data_type: _, array, format } => {
            none(*array, "CAST … AS … ARRAY")?;
            none(format.is_some(), "FORMAT in CAST")
        }
        Expr::Convert { .. } => Err(unsupported("CONVERT").with_hint("use CAST or TRY_CAST")),
        Expr::Ceil { expr: _, field } | Expr::Floor { expr: _, field } => match field {
            CeilFloorKind::DateTimeField(field) => none(
                !matches!(field, datafusion::sql::sqlparser::ast::DateTimeField::NoDateTime),
                "ceil and floor to a unit of time",
            )
            .map_err(|e| e.with_hint("use date_trunc")),
            CeilFloorKind::Scale(_) => Err(unsupported("ceil and floor to a scale").with_hint("use round or trunc")),
        },
        Expr::Collate { .. } => Err(unsupported("COLLATE")),
        Expr::Prefixed { .. } => Err(unsupported("a character set before a text")),
        Expr::IsNormalized { .. } => Err(unsupported("IS NORMALIZED")),
        Expr::InUnnest { .. } => Err(unsupported("IN UNNEST(…)").with_hint("use = ANY(array)")),
        Expr::MatchAgainst { .. } => Err(unsupported("MATCH … AGAINST")),
        Expr::OuterJoin(_) => Err(unsupported("(+)").with_hint("use LEFT JOIN")),
        Expr::Prior(_) => Err(unsupported("PRIOR")),
        Expr::MemberOf(_) => Err(unsupported("MEMBER OF")),
        Expr::JsonAccess { .. } => Err(unsupported("access by a colon")),
        Expr::Identifier(_)
        | Expr::CompoundIdentifier(_)
        | Expr::CompoundFieldAccess { root: _, access_chain: _ }
        | Expr::IsFalse(_)
        | Expr::IsNotFalse(_)
        | Expr::IsTrue(_)
        | Expr::IsNotTrue(_)
        | Expr::IsNull(_)
        | Expr::IsNotNull(_)
        | Expr::IsUnknown(_)
        | Expr::IsNotUnknown(_)
        | Expr::IsDistinctFrom(..)
        | Expr::IsNotDistinctFrom(..)
        | Expr::InList { expr: _, list: _, negated: _ }
        | Expr::InSubquery { expr: _, subquery: _, negated: _ }
        | Expr::Between { expr: _, negated: _, low: _, high: _ }
        | Expr::AnyOp { left: _, compare_op: _, right: _, is_some: _ }
        | Expr::AllOp { left: _, compare_op: _, right: _ }
        | Expr::UnaryOp { op: _, expr: _ }
        | Expr::AtTimeZone { timestamp: _, time_zone: _ }
        | Expr::Extract { field: _, syntax: _, expr: _ }
        | Expr::Position { expr: _, r#in: _ }
        | Expr::Substring { expr: _, substring_from: _, substring_for: _, special: _, shorthand: _ }
        | Expr::Trim { trim_where: _, trim_what: _, expr: _, trim_characters: _ }
        | Expr::Overlay { expr: _, overlay_what: _, overlay_from: _, overlay_for: _ }
        | Expr::Nested(_)
        | Expr::Value(_)
        | Expr::TypedString(_)
        | Expr::Case { case_token: _, end_token: _, operand: _, conditions: _, else_result: _ }
        | Expr::Exists { subquery: _, negated: _ }
        | Expr::Subquery(_)
        | Expr::GroupingSets(_)
        | Expr::Cube(_)
        | Expr::Rollup(_)
        | Expr::Tuple(_)
        | Expr::Struct { values: _, fields: _ }
        | Expr::Named { expr: _, name: _ }
        | Expr::Dictionary(_)
        | Expr::Map(_)
        | Expr::Array(_)
        | Expr::Interval(_)
        | Expr::Wildcard(_)
        | Expr::QualifiedWildcard(..)
        | Expr::Lambda(_) => Ok(()),
    }
}

fn function(function: &Function, functions: &dyn Fn(&str) -> Called) -> Result<()> {
    let Function { name, uses_odbc_syntax: _, parameters, args, filter, null_treatment, over, within_group } = function;
    none(!matches!(parameters, FunctionArguments::None), "a function with two lists of arguments")?;
    let bare =
        name.0.last().and_then(|part| part.as_ident()).map(|ident| ident.value.to_lowercase()).unwrap_or_default();
    let called = functions(&bare);
    let mut distinct = false;
    let mut ordered = false;
    if let FunctionArguments::List(FunctionArgumentList { duplicate_treatment, args, clauses }) = args {
        distinct = matches!(duplicate_treatment, Some(DuplicateTreatment::Distinct));
        for arg in args {
            let (FunctionArg::Named { name: _, arg, operator: _ }
            | FunctionArg::ExprNamed { name: _, arg, operator: _ }
            | FunctionArg::Unnamed(arg)) = arg;
            match arg {
                FunctionArgExpr::Expr(_) | FunctionArgExpr::Wildcard => {}
                FunctionArgExpr::QualifiedWildcard(_) => return Err(unsupported("t.* as an argument")),
                FunctionArgExpr::WildcardWithOptions(_) => return Err(unsupported("* with options as an argument")),
            }
        }
        for clause in clauses {
            ordered |= clause_of_arguments(clause)?;
        }
    }
    query::order_by(within_group)?;
    let of = |clause: &str, there: bool, right: bool| match there && !right {
        true => Err(Error::unsupported(format!("SQL: {clause} with the function {bare} is not supported"))),
        false => Ok(()),
    };
    let known = |kinds: &[Called]| called == Called::Unknown || kinds.contains(&called);
    of("FILTER", filter.is_some(), known(&[Called::Aggregate]))?;
    of("OVER", over.is_some(), known(&[Called::Aggregate, Called::Window]))?;
    of("IGNORE NULLS and RESPECT NULLS", null_treatment.is_some(), known(&[Called::Aggregate, Called::Window]))?;
    of("ORDER BY", ordered, known(&[Called::Aggregate]))?;
    of("WITHIN GROUP", !within_group.is_empty(), known(&[Called::Aggregate]))?;
    let honours = called == Called::Unknown || DISTINCT.contains(&bare.as_str());
    of("DISTINCT", distinct, honours)?;
    match over {
        Some(WindowType::WindowSpec(spec)) => query::window(spec),
        // Those of the columns, of QUALIFY and of ORDER BY are replaced before.
        Some(WindowType::NamedWindow(name)) => Err(Error::invalid(format!("SQL: the window {name} is not defined"))),
        None => Ok(()),
    }
}

/// Whether the clause sorts.
fn clause_of_arguments(clause: &FunctionArgumentClause) -> Result<bool> {
    match clause {
        FunctionArgumentClause::IgnoreOrRespectNulls(_) => Ok(false),
        FunctionArgumentClause::OrderBy(exprs) => query::order_by(exprs).map(|()| true),
        FunctionArgumentClause::Limit(_) => Err(unsupported("LIMIT in a function")),
        FunctionArgumentClause::OnOverflow(_) => Err(unsupported("ON OVERFLOW")),
        FunctionArgumentClause::Having(_) => Err(unsupported("HAVING in a function")),
        FunctionArgumentClause::Separator(_) => {
            Err(unsupported("SEPARATOR").with_hint("use string_agg(text, separator)"))
        }
        FunctionArgumentClause::JsonNullClause(_) => Err(unsupported("NULL ON NULL and ABSENT ON NULL")),
        FunctionArgumentClause::JsonReturningClause(_) => Err(unsupported("RETURNING in a function")),
    }
}
