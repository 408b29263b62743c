//! What several plans have in common runs once.
//!
//! Plans are compared before they are optimised, when what is written alike is planned alike; the columns and rows that each
//! reader needs are known when the readers are planned, and what is shared is planned last, for all of them.

mod log;
mod provider;

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::catalog::default_table_source::{provider_as_source, source_as_provider};
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, col};

pub(crate) use provider::Shared;
use provider::{SharedTable, column_name};

/// Begins the names of what is shared; no table has such a name.
const PREFIX: &str = "\u{1}shared ";

/// A part of plans and the tables that it reads: plans name tables, and name some alike that are not the same.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Part {
    plan: LogicalPlan,
    tables: Vec<usize>,
}

struct Entry {
    body: Part,
    shared: Arc<Shared>,
}

/// Replaces what occurs more than once in these plans, the largest parts first, until nothing does. What is shared reads nothing
/// that is shared before it.
///
/// # Errors
/// Those of planning.
pub(crate) fn share(plans: &mut [LogicalPlan]) -> Result<Vec<Arc<Shared>>> {
    let mut entries: Vec<Entry> = Vec::new();
    loop {
        let mut counts: HashMap<Part, usize> = HashMap::new();
        for plan in plans.iter().chain(entries.iter().map(|entry| &entry.body.plan)) {
            count(plan, &mut counts)?;
        }
        counts.retain(|_, count| *count > 1);
        if counts.is_empty() {
            break;
        }
        for plan in plans.iter_mut() {
            *plan = replaced(plan.clone(), &counts, &mut entries)?;
        }
        // Those that were just made are looked at in the next round.
        let known = entries.len();
        for at in 0..known {
            let Some(body) = entries.get(at).map(|entry| entry.body.clone()) else { continue };
            if counts.contains_key(&body) {
                continue;
            }
            let plan = replaced(body.plan, &counts, &mut entries)?;
            if let (Some(entry), Some(body)) = (entries.get_mut(at), part(&plan)?.or(bare(&plan)?)) {
                entry.body = body;
            }
        }
    }
    for entry in &entries {
        entry.shared.set_plan(entry.body.plan.clone());
    }
    Ok(entries.into_iter().map(|entry| entry.shared).collect())
}

/// Counts the parts of a plan that can be shared.
fn count(plan: &LogicalPlan, counts: &mut HashMap<Part, usize>) -> Result<()> {
    plan.apply(|node| {
        if is_closed(node) {
            return Ok(TreeNodeRecursion::Jump);
        }
        if let Some(part) = part(node)? {
            *counts.entry(part).or_default() += 1;
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(())
}

/// The plan with what is `common` replaced by reads of what is shared.
fn replaced(plan: LogicalPlan, common: &HashMap<Part, usize>, entries: &mut Vec<Entry>) -> Result<LogicalPlan> {
    let plan = plan.transform_down(|node| {
        if is_closed(&node) {
            return Ok(Transformed::new(node, false, TreeNodeRecursion::Jump));
        }
        let Some(part) = part(&node)?.filter(|part| common.contains_key(part)) else {
            return Ok(Transformed::no(node));
        };
        let shared = match entries.iter().find(|entry| entry.body == part) {
            Some(entry) => Arc::clone(&entry.shared),
            None => {
                let shared = Shared::new(format!("{}", entries.len() + 1), &part.plan);
                entries.push(Entry { body: part, shared: Arc::clone(&shared) });
                shared
            }
        };
        Ok(Transformed::new(read(&shared, &node)?, true, TreeNodeRecursion::Jump))
    })?;
    Ok(plan.data)
}

/// Reads what is shared, under the names that the columns have in the plan in whose place it stands.
fn read(shared: &Arc<Shared>, instead: &LogicalPlan) -> Result<LogicalPlan> {
    let provider = Arc::new(SharedTable(Arc::clone(shared)));
    let name = format!("{PREFIX}{}", shared.name());
    let scan = LogicalPlanBuilder::scan(name, provider_as_source(provider), None)?;
    let columns = instead.schema().iter().enumerate().map(|(at, (relation, field))| {
        let column: Expr = col(column_name(at));
        match relation {
            Some(relation) => column.alias_qualified(Some(relation.clone()), field.name()),
            None => column.alias(field.name()),
        }
    });
    scan.project(columns)?.build()
}

/// Whether a plan is left as a whole: it reads rows of its own, or of the plan around it.
fn is_closed(plan: &LogicalPlan) -> bool {
    matches!(plan, LogicalPlan::RecursiveQuery(_) | LogicalPlan::Subquery(_))
}

/// The plan as a part that can be shared: it reads a table, and gives the same rows whenever it runs.
fn part(plan: &LogicalPlan) -> Result<Option<Part>> {
    let mut shareable = true;
    let mut reads = false;
    plan.apply(|node| {
        shareable &= !is_closed(node) && !node.expressions().iter().any(Expr::is_volatile);
        if let LogicalPlan::TableScan(scan) = node {
            reads |= !scan.table_name.table().starts_with(PREFIX);
        }
        Ok(if shareable { TreeNodeRecursion::Continue } else { TreeNodeRecursion::Stop })
    })?;
    if shareable && reads { bare(plan) } else { Ok(None) }
}

/// The plan with the tables that it reads.
fn bare(plan: &LogicalPlan) -> Result<Option<Part>> {
    let mut tables = Vec::new();
    plan.apply(|node| {
        if let LogicalPlan::TableScan(scan) = node {
            tables.push(Arc::as_ptr(&source_as_provider(&scan.source)?).cast::<()>() as usize);
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(Some(Part { plan: plan.clone(), tables }))
}
