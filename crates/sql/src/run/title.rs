//! What the columns of a query are called that have no alias: an expression by its text, and the second of a name with `_1`, so
//! that names are those a reader wrote and differ where columns are looked up by them.

use std::collections::HashSet;
use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Expr, Ident, OrderByExpr, OrderByKind, Query, Select, SelectItem, SelectItemQualifiedWildcardKind, SetExpr,
    Statement, TableFactor, Value, VisitMut, VisitorMut,
};

use crate::error::unmarked;

/// Gives every unnamed expression in the select lists of a query an alias.
pub(super) fn entitle(ast: &mut Statement) {
    if matches!(ast, Statement::Query(_)) {
        let _: ControlFlow<()> = ast.visit(&mut Titles);
    }
}

struct Titles;

impl VisitorMut for Titles {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        let mut named = Vec::new();
        entitle_body(&mut query.body, &mut named);
        match query.order_by.as_mut().map(|order| &mut order.kind) {
            Some(OrderByKind::Expressions(keys)) => {
                // An order by an expression of the list means that column, which DISTINCT asks for.
                for key in keys {
                    if let Some((_, name)) = named.iter().find(|(expr, _)| *expr == key.expr) {
                        key.expr = Expr::Identifier(name.clone());
                    }
                }
            }
            Some(kind @ OrderByKind::All(_)) => order_by_each(kind, columns(&query.body)),
            None => {}
        }
        ControlFlow::Continue(())
    }
}

/// How many columns a query has, where that can be counted: not with a star.
fn columns(body: &SetExpr) -> Option<usize> {
    match body {
        SetExpr::Select(select) => {
            let single =
                |item: &SelectItem| matches!(item, SelectItem::UnnamedExpr(_) | SelectItem::ExprWithAlias { .. });
            select.projection.iter().all(single).then_some(select.projection.len())
        }
        SetExpr::SetOperation { left, right, .. } => columns(left).or_else(|| columns(right)),
        SetExpr::Query(query) => columns(&query.body),
        SetExpr::Values(values) => values.rows.first().map(|row| row.len()),
        _ => None,
    }
}

/// Orders by every column by its number; the planner knows the columns of a star.
fn order_by_each(kind: &mut OrderByKind, columns: Option<usize>) {
    let (OrderByKind::All(options), Some(columns)) = (&kind, columns) else { return };
    let key = |number: usize| OrderByExpr {
        expr: Expr::value(Value::Number(number.to_string(), false)),
        options: *options,
        with_fill: None,
    };
    *kind = OrderByKind::Expressions((1..=columns).map(key).collect());
}

/// `named` collects the expressions of the select list that an ORDER BY can mean, with their names.
fn entitle_body(body: &mut SetExpr, named: &mut Vec<(Expr, Ident)>) {
    match body {
        SetExpr::Select(select) => *named = entitle_list(select),
        SetExpr::SetOperation { left, right, .. } => {
            entitle_body(right, named);
            entitle_body(left, named);
        }
        // Queries in parentheses are visited themselves.
        _ => {}
    }
}

fn entitle_list(select: &mut Select) -> Vec<(Expr, Ident)> {
    let tables = tables(select);
    let mut taken = Taken::of(select);
    let mut named = Vec::new();
    for item in &mut select.projection {
        let SelectItem::UnnamedExpr(expr) = item else { continue };
        let name = match own_name(expr, &tables) {
            OwnName::Kept(name) => match taken.take(expr, &name) {
                free if free == name => continue,
                other => other,
            },
            OwnName::Given(name) => taken.take(expr, &name),
        };
        let (expr, alias) = (expr.clone(), Ident::with_quote('"', name));
        named.push((expr.clone(), alias.clone()));
        *item = SelectItem::ExprWithAlias { expr, alias };
    }
    named
}

/// The name of an expression: one that the planner gives it as well, or one that it must be given.
enum OwnName {
    Kept(String),
    Given(String),
}

fn own_name(expr: &Expr, tables: &HashSet<String>) -> OwnName {
    match expr {
        Expr::Identifier(name) => OwnName::Kept(name.value.clone()),
        Expr::CompoundIdentifier(parts) => {
            // `column`, `table.column` or `database.table.column`; what follows are fields of a row.
            let table = (0..2).find(|&at| parts.get(at).is_some_and(|part| tables.contains(&part.value)));
            let of_table = table.is_some_and(|table| table + 2 == parts.len());
            let last = parts.last().map(|part| part.value.clone()).unwrap_or_default();
            if of_table { OwnName::Kept(last) } else { OwnName::Given(last) }
        }
        Expr::Nested(inner) => match own_name(inner, tables) {
            OwnName::Kept(name) => OwnName::Kept(name),
            OwnName::Given(_) => OwnName::Given(unmarked(&inner.to_string())),
        },
        other => OwnName::Given(unmarked(&other.to_string())),
    }
}

/// The names of a select list so far.
struct Taken {
    names: HashSet<String>,
    /// `*` and the tables of `t.*`, whose columns are there as well.
    every: bool,
    of_tables: HashSet<String>,
}

impl Taken {
    fn of(select: &Select) -> Self {
        let mut taken = Self { names: HashSet::new(), every: false, of_tables: HashSet::new() };
        for item in &select.projection {
            match item {
                // What is left out of a star may be listed again.
                SelectItem::Wildcard(options) => {
                    taken.every = options.opt_exclude.is_none() && options.opt_except.is_none();
                }
                SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), _) => {
                    taken
                        .of_tables
                        .extend(name.0.last().and_then(|part| part.as_ident()).map(|ident| ident.value.clone()));
                }
                SelectItem::ExprWithAlias { alias, .. } => {
                    taken.names.insert(alias.value.clone());
                }
                _ => {}
            }
        }
        taken
    }

    /// A name that none before has.
    fn take(&mut self, expr: &Expr, name: &str) -> String {
        let repeated = match expr {
            Expr::Identifier(_) => self.every,
            Expr::CompoundIdentifier(parts) => {
                self.every || parts.iter().rev().nth(1).is_some_and(|table| self.of_tables.contains(&table.value))
            }
            _ => false,
        };
        if repeated {
            self.names.insert(name.to_owned());
        }
        let others = (1..).map(|n: u32| format!("{name}_{n}"));
        let free = std::iter::once(name.to_owned()).chain(others).find(|name| !self.names.contains(name));
        let free = free.unwrap_or_default();
        self.names.insert(free.clone());
        free
    }
}

/// The names that columns of a FROM clause may be qualified with.
fn tables(select: &Select) -> HashSet<String> {
    let mut names = HashSet::new();
    let joined = select.from.iter().flat_map(|from| from.joins.iter().map(|join| &join.relation));
    for factor in select.from.iter().map(|from| &from.relation).chain(joined) {
        factor_names(factor, &mut names);
    }
    names
}

fn factor_names(factor: &TableFactor, names: &mut HashSet<String>) {
    match factor {
        TableFactor::Table { name, alias, .. } => {
            let last = name.0.last().and_then(|part| part.as_ident()).map(|ident| unmarked(&ident.value));
            names.extend(alias.as_ref().map(|alias| alias.name.value.clone()).or(last));
        }
        TableFactor::Derived { alias, .. }
        | TableFactor::TableFunction { alias, .. }
        | TableFactor::UNNEST { alias, .. } => {
            names.extend(alias.as_ref().map(|alias| alias.name.value.clone()));
        }
        TableFactor::NestedJoin { table_with_joins, alias } => {
            names.extend(alias.as_ref().map(|alias| alias.name.value.clone()));
            factor_names(&table_with_joins.relation, names);
            table_with_joins.joins.iter().for_each(|join| factor_names(&join.relation, names));
        }
        _ => {}
    }
}
