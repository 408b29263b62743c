//! Queries: what stands around and in SELECT.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Cte, Distinct, Expr, Fetch, GroupByExpr, LimitClause, NamedWindowDefinition, NamedWindowExpr, OrderBy, OrderByExpr,
    OrderByKind, Query, Select, SelectFlavor, SelectItem, SelectItemQualifiedWildcardKind, SetExpr, SetOperator,
    SetQuantifier, Table, TableAlias, Values, VisitMut, WildcardAdditionalOptions, WindowSpec, WindowType, With,
    visit_expressions_mut,
};
use linn::{Error, Result};

use super::{none, star, unsupported};

/// Checks a query but for the expressions and relations in it.
pub(super) fn check(query: &mut Query) -> Result<()> {
    let Query { with, body, order_by, limit_clause, fetch, locks, for_clause, settings, format_clause, pipe_operators } =
        query;
    none(!locks.is_empty(), "FOR UPDATE and FOR SHARE")?;
    none(for_clause.is_some(), "FOR JSON, FOR XML and FOR BROWSE")?;
    none(settings.is_some(), "SETTINGS")?;
    none(format_clause.is_some(), "FORMAT").map_err(|e| e.with_hint("name the format with -o"))?;
    none(!pipe_operators.is_empty(), "|>")?;
    if let Some(With { with_token: _, recursive: _, cte_tables }) = with {
        // Whether a common table expression is materialized changes no result.
        for Cte { alias, query: _, from, materialized: _, closing_paren_token: _ } in cte_tables {
            none(from.is_some(), "FROM behind a common table expression")?;
            self::alias(alias)?;
        }
    }
    set(body)?;
    if let Some(OrderBy { kind, interpolate }) = order_by {
        none(interpolate.is_some(), "INTERPOLATE")?;
        if let OrderByKind::Expressions(exprs) = kind {
            self::order_by(exprs)?;
        }
    }
    if let SetExpr::Select(select) = body.as_ref() {
        name_windows(order_by, &select.named_window);
    }
    limit(limit_clause, fetch)
}

/// `FETCH FIRST n ROWS ONLY` is LIMIT, and so is `LIMIT a, b`.
fn limit(clause: &mut Option<LimitClause>, fetch: &mut Option<Fetch>) -> Result<()> {
    match clause {
        Some(LimitClause::LimitOffset { limit: _, offset: _, limit_by }) => none(!limit_by.is_empty(), "LIMIT … BY")?,
        Some(LimitClause::OffsetCommaLimit { offset: _, limit: _ }) | None => {}
    }
    let Some(Fetch { with_ties, percent, quantity }) = fetch.take() else { return Ok(()) };
    none(with_ties, "WITH TIES")?;
    none(percent, "FETCH … PERCENT")?;
    let one = || Expr::value(datafusion::sql::sqlparser::ast::Value::Number("1".to_owned(), false));
    let rows = Some(quantity.unwrap_or_else(one));
    match clause {
        Some(LimitClause::LimitOffset { limit: limit @ None, .. }) => *limit = rows,
        Some(_) => return Err(Error::invalid("SQL: a query has either LIMIT or FETCH")),
        None => *clause = Some(LimitClause::LimitOffset { limit: rows, offset: None, limit_by: Vec::new() }),
    }
    Ok(())
}

fn set(body: &mut SetExpr) -> Result<()> {
    match body {
        SetExpr::Select(_) | SetExpr::Query(_) => Ok(()),
        SetExpr::Values(Values { explicit_row: _, value_keyword: _, rows: _ }) => Ok(()),
        SetExpr::Table(table) => {
            *body = SetExpr::Query(Box::new(whole(table)?));
            Ok(())
        }
        SetExpr::SetOperation { left, op, set_quantifier, right } => {
            match (op, set_quantifier) {
                (SetOperator::Union, _) => {}
                (SetOperator::Except | SetOperator::Intersect, SetQuantifier::Distinct | SetQuantifier::None) => {}
                (op, quantifier) => return Err(unsupported(format!("{op} {quantifier}").trim())),
            }
            set(left)?;
            set(right)
        }
        SetExpr::Insert(_) | SetExpr::Update(_) | SetExpr::Delete(_) | SetExpr::Merge(_) => {
            Err(unsupported("a statement that writes inside of a query"))
        }
    }
}

/// `TABLE t` is `SELECT * FROM t`.
fn whole(table: &Table) -> Result<Query> {
    let Table { table_name, schema_name } = table;
    let names: Vec<String> = [schema_name, table_name]
        .into_iter()
        .flatten()
        .map(|name| format!("\"{}\"", name.replace('"', "\"\"")))
        .collect();
    super::sample::query(&format!("SELECT * FROM {}", names.join(".")))
}

/// Checks a SELECT but for the expressions and relations in it.
pub(super) fn select(select: &mut Select) -> Result<()> {
    let Select {
        select_token: _,
        optimizer_hints,
        distinct,
        select_modifiers,
        top,
        top_before_distinct: _,
        projection,
        exclude,
        into,
        from,
        lateral_views,
        prewhere,
        selection: _,
        connect_by,
        group_by,
        cluster_by,
        distribute_by,
        sort_by,
        having: _,
        named_window,
        qualify,
        window_before_qualify: _,
        value_table_mode,
        flavor,
    } = select;
    none(!optimizer_hints.is_empty(), "a hint behind SELECT")
        .map_err(|e| e.with_hint("hints with options go behind a table's name"))?;
    none(select_modifiers.is_some(), "a modifier behind SELECT")?;
    none(top.is_some(), "TOP").map_err(|e| e.with_hint("use LIMIT"))?;
    none(exclude.is_some(), "EXCLUDE behind the columns").map_err(|e| e.with_hint("write * EXCLUDE (…)"))?;
    none(into.is_some(), "SELECT … INTO").map_err(|e| e.with_hint("use CREATE TABLE … AS, or INSERT INTO"))?;
    none(!lateral_views.is_empty(), "LATERAL VIEW").map_err(|e| e.with_hint("use unnest(…)"))?;
    none(prewhere.is_some(), "PREWHERE")?;
    none(!connect_by.is_empty(), "CONNECT BY").map_err(|e| e.with_hint("use WITH RECURSIVE"))?;
    none(!cluster_by.is_empty(), "CLUSTER BY")?;
    none(!distribute_by.is_empty(), "DISTRIBUTE BY")?;
    none(!sort_by.is_empty(), "SORT BY").map_err(|e| e.with_hint("use ORDER BY"))?;
    none(value_table_mode.is_some(), "SELECT AS STRUCT and SELECT AS VALUE")?;
    match distinct {
        None | Some(Distinct::All | Distinct::Distinct | Distinct::On(_)) => {}
    }
    let (GroupByExpr::All(modifiers) | GroupByExpr::Expressions(_, modifiers)) = group_by;
    none(!modifiers.is_empty(), "GROUP BY … WITH")
        .map_err(|e| e.with_hint("use ROLLUP(…), CUBE(…) or GROUPING SETS (…)"))?;
    if matches!(flavor, SelectFlavor::FromFirstNoSelect) {
        projection.push(star());
    }
    *flavor = SelectFlavor::Standard;
    from.iter().try_for_each(super::table::joins)?;
    projection.iter().try_for_each(item)?;
    for NamedWindowDefinition(_, definition) in named_window.iter() {
        match definition {
            NamedWindowExpr::NamedWindow(_) => return Err(unsupported("a window that is named as another")),
            NamedWindowExpr::WindowSpec(spec) => window(spec)?,
        }
    }
    name_windows(projection, named_window);
    name_windows(qualify, named_window);
    Ok(())
}

fn item(item: &SelectItem) -> Result<()> {
    match item {
        SelectItem::UnnamedExpr(_) | SelectItem::ExprWithAlias { expr: _, alias: _ } => Ok(()),
        SelectItem::ExprWithAliases { expr: _, aliases: _ } => Err(unsupported("several names of one expression")),
        SelectItem::Wildcard(options) => wildcard(options),
        SelectItem::QualifiedWildcard(kind, options) => {
            none(matches!(kind, SelectItemQualifiedWildcardKind::Expr(_)), "the fields of an expression by .*")?;
            wildcard(options)
        }
    }
}

fn wildcard(options: &WildcardAdditionalOptions) -> Result<()> {
    let WildcardAdditionalOptions {
        wildcard_token: _,
        opt_ilike,
        opt_exclude: _,
        opt_except: _,
        opt_replace: _,
        opt_rename,
        opt_alias,
    } = options;
    none(opt_ilike.is_some(), "* ILIKE")?;
    none(opt_rename.is_some(), "* RENAME")?;
    none(opt_alias.is_some(), "a name of *")
}

/// Checks what sorts.
pub(super) fn order_by(exprs: &[OrderByExpr]) -> Result<()> {
    for OrderByExpr { expr: _, options: _, with_fill } in exprs {
        none(with_fill.is_some(), "WITH FILL")?;
    }
    Ok(())
}

/// Checks the name of a relation.
pub(super) fn alias(alias: &TableAlias) -> Result<()> {
    let TableAlias { explicit: _, name: _, columns, at } = alias;
    none(at.is_some(), "AT in the name of a table")?;
    none(columns.iter().any(|column| column.data_type.is_some()), "types in the name of a table")
}

/// Checks a window.
pub(super) fn window(spec: &WindowSpec) -> Result<()> {
    let WindowSpec { window_name, partition_by: _, order_by, window_frame: _ } = spec;
    none(window_name.is_some(), "a window that continues another").map_err(|e| e.with_hint("write the window out"))?;
    self::order_by(order_by)
}

/// Puts the windows in place of their names. The planner does so in the columns alone.
fn name_windows<T: VisitMut>(part: &mut T, windows: &[NamedWindowDefinition]) {
    if windows.is_empty() {
        return;
    }
    let _: ControlFlow<()> = visit_expressions_mut(part, |expr| {
        if let Expr::Function(function) = expr
            && let Some(WindowType::NamedWindow(name)) = &function.over
            && let Some(NamedWindowDefinition(_, NamedWindowExpr::WindowSpec(spec))) =
                windows.iter().find(|NamedWindowDefinition(known, _)| known.value == name.value)
        {
            function.over = Some(WindowType::WindowSpec(spec.clone()));
        }
        ControlFlow::Continue(())
    });
}
