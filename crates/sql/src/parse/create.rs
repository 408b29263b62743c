//! `CREATE TABLE`.

use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};
use linn::format::types::DataField;
use linn::{NewTable, Result};

use super::cursor::Cursor;
use super::statement::Statement;

/// Parses what follows `CREATE TABLE`:
/// `[IF NOT EXISTS] name LIKE other [WITH (…)]`, or
/// `[IF NOT EXISTS] name [(columns, [PRIMARY KEY (…) [NOT ENFORCED]])] [COMMENT '…'] [PARTITIONED BY (…)] [WITH (…)] [AS query]`.
pub(crate) fn create_table(mut c: Cursor<'_>, tokens: &[TokenWithSpan]) -> Result<Statement> {
    let if_not_exists = c.take("IF NOT EXISTS");
    let table = c.object()?;
    let mut definition = NewTable::default();
    if c.take("LIKE") {
        let model = c.object()?;
        while c.take("WITH") || c.take("TBLPROPERTIES") || c.take("OPTIONS") {
            for (key, value) in c.options()? {
                definition.options.set(key, value);
            }
        }
        c.end()?;
        return Ok(Statement::CreateTableLike { table, model, options: definition.options, if_not_exists });
    }
    if c.peek() == Some(&Token::LParen) {
        let items = c.list(item)?;
        for item in items {
            match item {
                Item::Column(field, key) => {
                    if key {
                        definition.primary_keys.push(field.name.clone());
                    }
                    definition.columns.push(field);
                }
                Item::PrimaryKey(names) => definition.primary_keys.extend(names),
            }
        }
    }
    loop {
        if c.take("COMMENT") {
            let _ = c.take_token(&Token::Eq);
            definition.comment = Some(c.string()?);
        } else if c.take("PARTITIONED BY") {
            definition.partition_keys = c.list(Cursor::name)?;
        } else if c.take("WITH") || c.take("TBLPROPERTIES") || c.take("OPTIONS") {
            for (key, value) in c.options()? {
                definition.options.set(key, value);
            }
        } else {
            break;
        }
    }
    let definition = Box::new(definition);
    if c.take("AS") {
        let query = tokens.get(c.index()..).unwrap_or_default().to_vec();
        return Ok(Statement::CreateTableAs { table, definition, if_not_exists, query });
    }
    c.end()?;
    Ok(Statement::CreateTable { table, definition, if_not_exists })
}

enum Item {
    Column(DataField, bool),
    PrimaryKey(Vec<String>),
}

fn item(c: &mut Cursor<'_>) -> Result<Item> {
    if c.take("CONSTRAINT") {
        c.name()?;
    }
    if c.take("PRIMARY KEY") {
        let names = c.list(Cursor::name)?;
        let _ = c.take("NOT ENFORCED");
        return Ok(Item::PrimaryKey(names));
    }
    let (field, key) = column(c)?;
    Ok(Item::Column(field, key))
}

/// `name TYPE [NOT NULL] [DEFAULT literal] [PRIMARY KEY [NOT ENFORCED]] [COMMENT '…']`.
fn column(c: &mut Cursor<'_>) -> Result<(DataField, bool)> {
    let name = c.name()?;
    let data_type = c.data_type().map_err(|e| e.with("column", &name))?;
    let mut field = DataField::new(-1, name, data_type);
    let mut key = false;
    loop {
        if c.take("COMMENT") {
            field.description = Some(c.string()?);
        } else if c.take("DEFAULT") {
            field.default_value = c.default_value()?;
        } else if c.take("PRIMARY KEY") {
            let _ = c.take("NOT ENFORCED");
            key = true;
        } else {
            return Ok((field, key));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::{parse, split};

    #[test]
    fn keys_partitions_and_options_are_read() {
        let sql = "CREATE TABLE IF NOT EXISTS db.t (
            dt STRING COMMENT 'day', k BIGINT NOT NULL, v DECIMAL(10, 2) DEFAULT 1,
            a ARRAY<ROW<x INT, y MAP<STRING, INT>>>, ts TIMESTAMP(3),
            PRIMARY KEY (dt, k) NOT ENFORCED
          ) COMMENT 'c' PARTITIONED BY (dt) WITH ('bucket' = '4', file.format = orc)";
        let Statement::CreateTable { table, definition, if_not_exists } =
            parse(&split(sql).unwrap().remove(0)).unwrap()
        else {
            panic!("not a table")
        };
        assert!(if_not_exists);
        assert_eq!(table, ["db", "t"]);
        assert_eq!(definition.primary_keys, ["dt", "k"]);
        assert_eq!(definition.partition_keys, ["dt"]);
        assert_eq!(definition.options.raw("bucket"), Some("4"));
        assert_eq!(definition.options.raw("file.format"), Some("orc"));
        assert_eq!(definition.columns.len(), 5);
        assert_eq!(definition.columns[1].data_type.to_string(), "BIGINT NOT NULL");
        assert_eq!(definition.columns[2].default_value.as_deref(), Some("1"));
        assert_eq!(definition.columns[4].data_type.to_string(), "TIMESTAMP(3)");
    }

    #[test]
    fn a_word_in_the_place_of_a_value_is_not_its_text() {
        let default = |literal: &str| {
            let sql = format!("CREATE TABLE t (a STRING DEFAULT {literal}, \"b\" ROW<\"c \"\"d\" INT, `e``f` STRING>)");
            match parse(&split(&sql).unwrap().remove(0))? {
                Statement::CreateTable { mut definition, .. } => {
                    assert_eq!(definition.columns[1].data_type.to_string(), "ROW<`c \"d` INT, `e``f` STRING>");
                    Ok(definition.columns.remove(0).default_value)
                }
                other => panic!("{other:?}"),
            }
        };
        let given = |literal: &str| default(literal).map_err(|e: linn::Error| e.to_string());
        assert_eq!(given("NULL"), Ok(None));
        assert_eq!(given("'NULL'"), Ok(Some("NULL".into())));
        assert_eq!(given("true"), Ok(Some("true".into())));
        assert_eq!(given("-1.50"), Ok(Some("-1.50".into())));
        assert_eq!(given("'it''s'"), Ok(Some("it's".into())));
        assert_eq!(given("'''x'''"), Ok(Some("''x''".into())));
        assert_eq!(given("DATE '2026-01-01'"), Ok(Some("2026-01-01".into())));
        assert!(given("other").unwrap_err().contains("expected a value"));
    }

    #[test]
    fn mistakes_are_named() {
        let error = parse(&split("CREATE TABLE t (a NOTATYPE)").unwrap().remove(0)).unwrap_err();
        assert!(error.to_string().contains("column: a"), "{error}");
        assert!(parse(&split("CREATE TABLE t (a INT) WITH").unwrap().remove(0)).is_err());
    }
}
