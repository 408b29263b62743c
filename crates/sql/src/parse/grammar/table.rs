//! What stands in FROM.

use datafusion::sql::sqlparser::ast::{Join, JoinConstraint, JoinOperator, TableFactor, TableWithJoins};
use linn::{Error, Result};

use super::query::alias as checked_alias;
use super::{none, sample, unsupported};

/// Checks a relation, and writes a sample as the query that takes it.
pub(super) fn check(factor: &mut TableFactor) -> Result<()> {
    let alias = match factor {
        TableFactor::Table {
            name: _,
            alias,
            args,
            with_hints,
            version,
            with_ordinality,
            partitions,
            json_path,
            sample: _,
            index_hints,
        } => {
            none(args.as_ref().is_some_and(|args| args.settings.is_some()), "SETTINGS")?;
            none(!with_hints.is_empty(), "WITH (…) behind a table")?;
            none(version.is_some(), "this form of time travel")?;
            none(*with_ordinality, "WITH ORDINALITY")?;
            none(!partitions.is_empty(), "PARTITION (…) behind a table").map_err(|e| e.with_hint("use WHERE"))?;
            none(json_path.is_some(), "a path behind a table")?;
            none(!index_hints.is_empty(), "USE INDEX")?;
            alias
        }
        TableFactor::Derived { lateral: _, subquery: _, alias, sample: _ } => alias,
        TableFactor::Function { lateral: _, name: _, args: _, with_ordinality, alias } => {
            none(*with_ordinality, "WITH ORDINALITY")?;
            alias
        }
        TableFactor::UNNEST { alias, array_exprs: _, with_offset, with_offset_alias: _, with_ordinality } => {
            none(*with_offset || *with_ordinality, "WITH OFFSET and WITH ORDINALITY")?;
            alias
        }
        TableFactor::NestedJoin { table_with_joins, alias } => {
            joins(table_with_joins)?;
            alias
        }
        TableFactor::TableFunction { .. } => return Err(unsupported("TABLE(…)")),
        TableFactor::JsonTable { .. } => return Err(unsupported("JSON_TABLE")),
        TableFactor::OpenJsonTable { .. } => return Err(unsupported("OPENJSON")),
        TableFactor::Pivot { .. } => return Err(unsupported("PIVOT")),
        TableFactor::Unpivot { .. } => return Err(unsupported("UNPIVOT")),
        TableFactor::MatchRecognize { .. } => return Err(unsupported("MATCH_RECOGNIZE")),
        TableFactor::XmlTable { .. } => return Err(unsupported("XMLTABLE")),
        TableFactor::SemanticView { .. } => return Err(unsupported("SEMANTIC_VIEW")),
    };
    if let Some(alias) = alias {
        checked_alias(alias)?;
    }
    sample::replace(factor)
}

/// Checks how relations are joined.
pub(super) fn joins(table: &TableWithJoins) -> Result<()> {
    let TableWithJoins { relation: _, joins } = table;
    for Join { relation: _, global, join_operator } in joins {
        none(*global, "GLOBAL JOIN")?;
        let constraint = match join_operator {
            JoinOperator::Join(constraint)
            | JoinOperator::Inner(constraint)
            | JoinOperator::Left(constraint)
            | JoinOperator::LeftOuter(constraint)
            | JoinOperator::Right(constraint)
            | JoinOperator::RightOuter(constraint)
            | JoinOperator::FullOuter(constraint)
            | JoinOperator::LeftSemi(constraint)
            | JoinOperator::RightSemi(constraint)
            | JoinOperator::LeftAnti(constraint)
            | JoinOperator::RightAnti(constraint) => constraint,
            JoinOperator::CrossJoin(constraint) => {
                none(!matches!(constraint, JoinConstraint::None), "CROSS JOIN with a condition")?;
                continue;
            }
            JoinOperator::Semi(_) | JoinOperator::Anti(_) => {
                return Err(unsupported("SEMI and ANTI JOIN without a side"));
            }
            JoinOperator::CrossApply | JoinOperator::OuterApply => return Err(unsupported("APPLY")),
            JoinOperator::AsOf { .. } => return Err(unsupported("ASOF JOIN")),
            JoinOperator::StraightJoin(_) => return Err(unsupported("STRAIGHT_JOIN")),
            JoinOperator::ArrayJoin | JoinOperator::LeftArrayJoin | JoinOperator::InnerArrayJoin => {
                return Err(unsupported("ARRAY JOIN"));
            }
        };
        if matches!(constraint, JoinConstraint::None) {
            return Err(Error::invalid("SQL: JOIN needs ON or USING").with_hint("use CROSS JOIN for all pairs"));
        }
    }
    Ok(())
}
