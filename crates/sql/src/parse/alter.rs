//! `ALTER TABLE`.

use linn::Result;
use linn::format::schema::{Position, SchemaChange};

use super::cursor::Cursor;
use super::statement::Statement;
use datafusion::sql::sqlparser::tokenizer::Token;

/// Parses what follows `ALTER TABLE`: SET/RESET options, ADD/DROP/RENAME/MODIFY/ALTER COLUMN, RENAME TO, DROP PARTITION.
pub(crate) fn alter_table(mut c: Cursor<'_>) -> Result<Statement> {
    let table = c.object()?;
    if c.take("RENAME TO") {
        let to = c.object()?;
        c.end()?;
        return Ok(Statement::RenameTable { table, to });
    }
    if c.take("DROP PARTITION") || c.take("DROP IF EXISTS PARTITION") {
        let mut partitions = vec![c.partition()?];
        while c.take_token(&Token::Comma) {
            c.require("PARTITION")?;
            partitions.push(c.partition()?);
        }
        c.end()?;
        return Ok(Statement::DropPartitions { table, partitions });
    }
    let changes = changes(&mut c)?;
    c.end()?;
    Ok(Statement::AlterTable { table, changes })
}

fn changes(c: &mut Cursor<'_>) -> Result<Vec<SchemaChange>> {
    if c.take("SET COMMENT") {
        return Ok(vec![SchemaChange::UpdateComment { comment: Some(c.string()?) }]);
    }
    if c.take("SET") {
        let _ = c.take("TBLPROPERTIES") || c.take("OPTIONS");
        let options = c.options()?;
        return Ok(options.into_iter().map(|(key, value)| SchemaChange::SetOption { key, value }).collect());
    }
    if c.take("RESET") || c.take("UNSET") {
        let _ = c.take("TBLPROPERTIES") || c.take("OPTIONS");
        let keys = c.list(Cursor::literal_key)?;
        return Ok(keys.into_iter().map(|key| SchemaChange::RemoveOption { key }).collect());
    }
    if c.take("DROP PRIMARY KEY") {
        return Ok(vec![SchemaChange::DropPrimaryKey]);
    }
    if c.take("ADD") {
        return add(c);
    }
    if c.take("DROP") {
        let _ = c.take("COLUMNS") || c.take("COLUMN");
        let paths = if c.peek() == Some(&Token::LParen) { c.list(Cursor::object)? } else { vec![c.object()?] };
        return Ok(paths.into_iter().map(|path| SchemaChange::DropColumn { path }).collect());
    }
    if c.take("RENAME") {
        let _ = c.take("COLUMN");
        let path = c.object()?;
        c.require("TO")?;
        return Ok(vec![SchemaChange::RenameColumn { path, new_name: c.name()? }]);
    }
    if c.take("MODIFY") {
        return modify(c);
    }
    if c.take("ALTER") || c.take("CHANGE") {
        let _ = c.take("COLUMN");
        return alter_column(c);
    }
    Err(c.expected("SET, RESET, ADD, DROP, RENAME, MODIFY or ALTER"))
}

fn add(c: &mut Cursor<'_>) -> Result<Vec<SchemaChange>> {
    let _ = c.take("COLUMNS") || c.take("COLUMN");
    if c.peek() == Some(&Token::LParen) { c.list(add_one) } else { Ok(vec![add_one(c)?]) }
}

fn add_one(c: &mut Cursor<'_>) -> Result<SchemaChange> {
    let mut path = c.object()?;
    let last = path.pop().unwrap_or_default();
    let data_type = c.data_type().map_err(|e| e.with("column", &last))?;
    path.push(last);
    let description = if c.take("COMMENT") { Some(c.string()?) } else { None };
    let position = position(c)?;
    Ok(SchemaChange::AddColumn { path, data_type, description, position })
}

fn position(c: &mut Cursor<'_>) -> Result<Option<Position>> {
    Ok(if c.take("FIRST") {
        Some(Position::First)
    } else if c.take("LAST") {
        Some(Position::Last)
    } else if c.take("AFTER") {
        Some(Position::After(c.name()?))
    } else if c.take("BEFORE") {
        Some(Position::Before(c.name()?))
    } else {
        None
    })
}

/// `MODIFY name TYPE [NOT NULL] [COMMENT '…'] [FIRST | AFTER x]`: the whole column anew, or the field of a ROW.
fn modify(c: &mut Cursor<'_>) -> Result<Vec<SchemaChange>> {
    let _ = c.take("COLUMN");
    let path = c.object()?;
    let new_type = c.data_type().map_err(|e| e.with("column", path.join(".")))?;
    let mut changes = vec![SchemaChange::UpdateColumnType { path: path.clone(), new_type, keep_nullability: false }];
    if c.take("DEFAULT") {
        changes.push(SchemaChange::UpdateColumnDefault { path: path.clone(), default: c.default_value()? });
    }
    if c.take("COMMENT") {
        let comment = Some(c.string()?);
        changes.push(SchemaChange::UpdateColumnComment { path: path.clone(), comment });
    }
    if let Some(position) = position(c)? {
        match path.as_slice() {
            [name] => changes.push(SchemaChange::UpdateColumnPosition { name: name.clone(), position }),
            _ => return Err(c.expected("a top-level column")),
        }
    }
    Ok(changes)
}

fn alter_column(c: &mut Cursor<'_>) -> Result<Vec<SchemaChange>> {
    let path = c.object()?;
    let change = if c.take("TYPE") || c.take("SET DATA TYPE") {
        SchemaChange::UpdateColumnType { path, new_type: c.data_type()?, keep_nullability: true }
    } else if c.take("SET NOT NULL") {
        SchemaChange::UpdateColumnNullability { path, nullable: false }
    } else if c.take("DROP NOT NULL") {
        SchemaChange::UpdateColumnNullability { path, nullable: true }
    } else if c.take("SET DEFAULT") {
        SchemaChange::UpdateColumnDefault { path, default: c.default_value()? }
    } else if c.take("DROP DEFAULT") {
        SchemaChange::UpdateColumnDefault { path, default: None }
    } else if c.take("COMMENT") {
        SchemaChange::UpdateColumnComment { path, comment: Some(c.string()?) }
    } else if let Some(position) = position(c)? {
        match path.as_slice() {
            [name] => SchemaChange::UpdateColumnPosition { name: name.clone(), position },
            _ => return Err(c.expected("a top-level column")),
        }
    } else {
        return Err(c.expected("TYPE, SET NOT NULL, DROP NOT NULL, SET DEFAULT, COMMENT, FIRST or AFTER"));
    };
    Ok(vec![change])
}

#[cfg(test)]
mod tests {
    use linn::format::types::DataType;

    use super::*;
    use crate::parse::{parse, split};

    fn check(sql: &str, expected: &[SchemaChange]) {
        match parse(&split(sql).unwrap().remove(0)).unwrap() {
            Statement::AlterTable { changes, .. } => assert_eq!(changes, expected, "{sql}"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn options_and_columns() {
        check(
            "ALTER TABLE t SET ('bucket' = '8')",
            &[SchemaChange::SetOption { key: "bucket".into(), value: "8".into() }],
        );
        check("ALTER TABLE t RESET ('a.b')", &[SchemaChange::RemoveOption { key: "a.b".into() }]);
        check(
            "ALTER TABLE t ADD COLUMN r.x INT AFTER y",
            &[SchemaChange::AddColumn {
                path: vec!["r".into(), "x".into()],
                data_type: DataType::parse("INT").unwrap(),
                description: None,
                position: Some(Position::After("y".into())),
            }],
        );
        check(
            "ALTER TABLE t MODIFY COLUMN r.\"a b\" ROW<\"c d\" INT, `e` STRING> COMMENT 'x'",
            &[
                SchemaChange::UpdateColumnType {
                    path: vec!["r".into(), "a b".into()],
                    new_type: DataType::parse("ROW<`c d` INT, e STRING>").unwrap(),
                    keep_nullability: false,
                },
                SchemaChange::UpdateColumnComment { path: vec!["r".into(), "a b".into()], comment: Some("x".into()) },
            ],
        );
        check(
            "ALTER TABLE t ALTER COLUMN a SET DEFAULT NULL",
            &[SchemaChange::UpdateColumnDefault { path: vec!["a".into()], default: None }],
        );
        check(
            "ALTER TABLE t RENAME COLUMN a TO b",
            &[SchemaChange::RenameColumn { path: vec!["a".into()], new_name: "b".into() }],
        );
        check(
            "ALTER TABLE t ALTER COLUMN a SET NOT NULL",
            &[SchemaChange::UpdateColumnNullability { path: vec!["a".into()], nullable: false }],
        );
    }

    #[test]
    fn partitions_are_dropped() {
        let parsed = parse(&split("ALTER TABLE t DROP PARTITION (d = 'x'), PARTITION (d = 'y')").unwrap().remove(0));
        assert!(matches!(parsed, Ok(Statement::DropPartitions { partitions, .. }) if partitions.len() == 2));
    }
}
