//! What a condition says of partition columns alone, when everything else in it may be anything.
//!
//! SQL knows three answers. For each of them it is asked when a condition may have it: where a part touches other columns,
//! always; else when the part itself has it. So `(to_char(dt, …) = 'x' AND v > 5) OR dt IS NULL` leaves
//! `to_char(dt, …) = 'x' OR dt IS NULL`.

use datafusion::common::ScalarValue;
use datafusion::logical_expr::expr::Case;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator, lit};

/// An answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    Yes,
    No,
    Unknown,
}

/// The condition on some columns without which an expression is never true; `None` when nothing follows for them. `known` says
/// whether an expression is over nothing but these columns.
pub(super) fn when_true(expr: &Expr, known: &dyn Fn(&Expr) -> bool) -> Option<Expr> {
    when(expr, Answer::Yes, known)
}

/// When an expression may have an answer; `None` when always.
fn when(expr: &Expr, answer: Answer, known: &dyn Fn(&Expr) -> bool) -> Option<Expr> {
    if known(expr) || matches!(expr, Expr::Literal(..)) {
        return Some(has(expr.clone(), answer));
    }
    match expr {
        Expr::Alias(alias) => when(&alias.expr, answer, known),
        Expr::BinaryExpr(BinaryExpr { op: op @ (Operator::And | Operator::Or), .. }) => {
            joined(&operands(expr, *op), *op == Operator::And, answer, known)
        }
        Expr::Not(inner) => when(inner, opposite(answer), known),
        Expr::IsTrue(inner) => one_of(inner, &[Answer::Yes], answer, known),
        Expr::IsNotTrue(inner) => one_of(inner, &[Answer::No, Answer::Unknown], answer, known),
        Expr::IsFalse(inner) => one_of(inner, &[Answer::No], answer, known),
        Expr::IsNotFalse(inner) => one_of(inner, &[Answer::Yes, Answer::Unknown], answer, known),
        Expr::IsUnknown(inner) => one_of(inner, &[Answer::Unknown], answer, known),
        Expr::IsNotUnknown(inner) => one_of(inner, &[Answer::Yes, Answer::No], answer, known),
        // What is asked for null may be anything but a condition.
        Expr::IsNull(inner) if is_condition(inner) => one_of(inner, &[Answer::Unknown], answer, known),
        Expr::IsNotNull(inner) if is_condition(inner) => one_of(inner, &[Answer::Yes, Answer::No], answer, known),
        Expr::Case(case) => chosen(case, answer, known),
        _ => None,
    }
}

/// Whether an expression joins conditions.
fn is_condition(expr: &Expr) -> bool {
    match expr {
        Expr::BinaryExpr(binary) => matches!(binary.op, Operator::And | Operator::Or),
        Expr::Not(_) => true,
        _ => false,
    }
}

fn opposite(answer: Answer) -> Answer {
    match answer {
        Answer::Yes => Answer::No,
        Answer::No => Answer::Yes,
        Answer::Unknown => Answer::Unknown,
    }
}

/// That an expression has an answer.
fn has(expr: Expr, answer: Answer) -> Expr {
    match answer {
        Answer::Yes => expr,
        Answer::No => Expr::Not(Box::new(expr)),
        Answer::Unknown => Expr::IsNull(Box::new(expr)),
    }
}

/// The operands of a chain of one operator; such chains are long, so that they are walked without recursion.
pub(super) fn operands(expr: &Expr, operator: Operator) -> Vec<&Expr> {
    let (mut found, mut open) = (Vec::new(), vec![expr]);
    while let Some(expr) = open.pop() {
        match expr {
            Expr::BinaryExpr(BinaryExpr { left, op, right }) if *op == operator => open.extend([&**right, &**left]),
            other => found.push(other),
        }
    }
    found
}

/// When operands joined by AND (or OR) may have an answer.
fn joined(parts: &[&Expr], and: bool, answer: Answer, known: &dyn Fn(&Expr) -> bool) -> Option<Expr> {
    let each = |answer| parts.iter().map(move |part| when(part, answer, known));
    // AND is true when all are, OR is false when all are; what nothing follows from is left out.
    match (and, answer) {
        (true, Answer::Yes) => tree(each(Answer::Yes).flatten().collect(), Operator::And),
        (false, Answer::No) => tree(each(Answer::No).flatten().collect(), Operator::And),
        (_, answer) => tree(each(answer).collect::<Option<Vec<_>>>()?, Operator::Or),
    }
}

/// When a question whether an answer is one of `answers` may itself have an answer.
fn one_of(inner: &Expr, answers: &[Answer], answer: Answer, known: &dyn Fn(&Expr) -> bool) -> Option<Expr> {
    let all = [Answer::Yes, Answer::No, Answer::Unknown];
    let wanted: Vec<Answer> = match answer {
        Answer::Unknown => return Some(lit(false)),
        Answer::Yes => answers.to_vec(),
        Answer::No => all.into_iter().filter(|a| !answers.contains(a)).collect(),
    };
    let parts = wanted.into_iter().map(|answer| when(inner, answer, known)).collect::<Option<Vec<_>>>()?;
    tree(parts, Operator::Or)
}

/// When CASE may have an answer: a branch whose condition may be true has it, and no earlier condition surely is true.
fn chosen(case: &Case, answer: Answer, known: &dyn Fn(&Expr) -> bool) -> Option<Expr> {
    let condition = |when: &Expr| match &case.expr {
        Some(base) => Expr::BinaryExpr(BinaryExpr::new(base.clone(), Operator::Eq, Box::new(when.clone()))),
        None => when.clone(),
    };
    let (mut branches, mut not_before): (Vec<Expr>, Vec<Expr>) = (Vec::new(), Vec::new());
    let mut branch = |reached: Option<Expr>, result: Option<Expr>, not_before: &[Expr]| {
        let parts = not_before.iter().cloned().chain(reached).chain(result).collect();
        branches.push(tree(parts, Operator::And)?);
        Some(())
    };
    for (condition_of, result) in &case.when_then_expr {
        let condition = condition(condition_of);
        branch(when(&condition, Answer::Yes, known), when(result, answer, known), &not_before)?;
        if known(&condition) {
            not_before.push(Expr::IsNotTrue(Box::new(condition)));
        }
    }
    let null = Expr::Literal(ScalarValue::Boolean(None), None);
    branch(None, when(case.else_expr.as_deref().unwrap_or(&null), answer, known), &not_before)?;
    tree(branches, Operator::Or)
}

/// Parts joined by an operator in a tree that is no deeper than needed; `None` without parts.
fn tree(mut parts: Vec<Expr>, op: Operator) -> Option<Expr> {
    while parts.len() > 1 {
        let mut next = Vec::with_capacity(parts.len().div_ceil(2));
        let mut rest = parts.into_iter();
        while let Some(left) = rest.next() {
            next.push(match rest.next() {
                Some(right) => Expr::BinaryExpr(BinaryExpr::new(Box::new(left), op, Box::new(right))),
                None => left,
            });
        }
        parts = next;
    }
    parts.pop()
}

#[cfg(test)]
mod tests {
    use datafusion::logical_expr::col;
    use datafusion::prelude::case;

    use super::*;

    fn known(expr: &Expr) -> bool {
        let columns = expr.column_refs();
        !columns.is_empty() && columns.iter().all(|column| column.name == "p")
    }

    fn check(expr: &Expr, expected: Option<&str>) {
        let found = when_true(expr, &known).map(|expr| expr.human_display().to_string());
        assert_eq!(found.as_deref(), expected, "{expr}");
    }

    #[test]
    fn what_touches_other_columns_may_be_anything() {
        let (p, v) = (|n: i32| col("p").eq(lit(n)), |n: i32| col("v").gt(lit(n)));
        check(&p(1).and(v(1)).or(p(2).and(v(2))), Some("p = 1 OR p = 2"));
        check(&p(1).or(v(1)), None);
        check(&!(p(1).or(v(1))), Some("NOT p = 1"));
        check(&!(p(1).and(v(1))), None);
        check(&v(1), None);
        check(&p(1).and(v(1)).is_true(), Some("p = 1"));
        check(&p(1).and(v(1)).is_not_true(), None);
        check(&p(1).or(v(1)).is_false(), Some("NOT p = 1"));
    }

    #[test]
    fn branches_of_case_are_taken_where_they_may_be() {
        let expr = case(col("p")).when(lit(1), col("v").gt(lit(5))).otherwise(lit(false)).unwrap();
        check(&expr, Some("p = 1 OR p = 1 IS NOT TRUE AND false"));
        let expr = case(col("v")).when(lit(1), col("p").gt(lit(5))).end().unwrap();
        check(&expr, Some("p > 5 OR NULL"));
    }

    #[test]
    fn long_chains_take_no_stack() {
        let chain = (0..100_000).fold(col("v").eq(lit(0)).and(col("p").eq(lit(0))), |all, n| {
            Expr::BinaryExpr(BinaryExpr::new(Box::new(all), Operator::Or, Box::new(col("p").eq(lit(n)))))
        });
        assert_eq!(operands(&chain, Operator::Or).len(), 100_001);
        // Dropping it would take the stack that walking does not.
        std::mem::forget(chain);
    }
}
