//! `CREATE OR REPLACE TABLE`: the new table is made under another name, rows and all, and takes the place of the old one
//! when it is complete. Until then nothing has changed; in between the two moves of folders there is no table of that name.

use linn::core::branch::Branches;
use linn::{Error, ErrorKind, Identifier, Result};

use crate::parse::{Statement, TableOptions};
use crate::session::{Output, Session};

/// The table that a statement makes, under another name.
fn renamed(statement: Statement, to: &[String]) -> Result<Statement> {
    Ok(match statement {
        Statement::CreateTable { definition, .. } => {
            Statement::CreateTable { table: to.to_vec(), definition, if_not_exists: false }
        }
        Statement::CreateTableAs { definition, query, .. } => {
            Statement::CreateTableAs { table: to.to_vec(), definition, if_not_exists: false, query }
        }
        Statement::CreateTableLike { model, options, .. } => {
            Statement::CreateTableLike { table: to.to_vec(), model, options, if_not_exists: false }
        }
        other => return Err(Error::internal(format!("{other:?} does not create a table"))),
    })
}

fn target(statement: &Statement) -> Result<(&[String], bool)> {
    match statement {
        Statement::CreateTable { table, if_not_exists, .. }
        | Statement::CreateTableAs { table, if_not_exists, .. }
        | Statement::CreateTableLike { table, if_not_exists, .. } => Ok((table, *if_not_exists)),
        other => Err(Error::internal(format!("{other:?} does not create a table"))),
    }
}

pub(super) async fn replace(session: &Session, statement: Statement, options: &TableOptions) -> Result<Output> {
    let (parts, if_not_exists) = target(&statement)?;
    if if_not_exists {
        return Err(Error::invalid("OR REPLACE and IF NOT EXISTS exclude each other"));
    }
    let id = session.identifier(parts)?;
    if id.branch.is_some() || id.system.is_some() {
        return Err(Error::invalid("a branch or system table cannot be replaced").with("table", &id));
    }
    let catalog = session.catalog();
    let old = match catalog.table(&id).await {
        Ok(old) => old,
        Err(e) if e.kind() == ErrorKind::NotFound => {
            return Box::pin(super::run(session, statement, options)).await;
        }
        Err(e) => return Err(e),
    };
    if !Branches::new(&old).list().await?.is_empty() {
        return Err(Error::invalid("the table has branches, which would be lost")
            .with("table", &id)
            .with_hint("delete its branches, or drop the table"));
    }
    if !moves_folders(old.storage().root()) {
        return Err(Error::unsupported("CREATE OR REPLACE on a store that cannot move folders")
            .with("table", &id)
            .with_hint("create the table under another name, or drop it first"));
    }
    let unique = old.new_user();
    let other = |what: &str| Identifier { table: format!("{}__{what}_{unique}", id.table), ..id.clone() };
    let (new, aside) = (other("new"), other("old"));
    let made = renamed(statement, &[new.database.clone(), new.table.clone()])?;
    let output = Box::pin(super::run(session, made, options)).await;
    let output = match output {
        Ok(output) => output,
        Err(e) => {
            drop_quietly(session, &new).await;
            return Err(e);
        }
    };
    if let Err(e) = exchange(session, &id, &new, &aside).await {
        drop_quietly(session, &new).await;
        return Err(e);
    }
    drop_quietly(session, &aside).await;
    let rows = match output {
        Output::Done { rows, .. } => rows,
        Output::Rows { .. } => None,
    };
    Ok(match rows {
        Some(rows) => Output::filled(format!("Replaced table {id}"), rows),
        None => Output::done(format!("Replaced table {id}.")),
    })
}

/// Whether a store moves a folder in one step.
fn moves_folders(root: &str) -> bool {
    !root.starts_with("s3:")
}

/// Moves the old table aside and the new one to its place; when the second fails the old one comes back.
async fn exchange(session: &Session, id: &Identifier, new: &Identifier, aside: &Identifier) -> Result<()> {
    let catalog = session.catalog();
    catalog.rename_table(id, aside).await.map_err(|e| match e.kind() {
        ErrorKind::Unsupported => e.with_hint("this store cannot move a table: drop it, then create it"),
        _ => e,
    })?;
    if let Err(e) = catalog.rename_table(new, id).await {
        if let Err(back) = catalog.rename_table(aside, id).await {
            return Err(Error::new(back.kind(), "the old table is kept under another name")
                .with("table", id)
                .with("kept as", aside)
                .with_hint(format!("ALTER TABLE `{}` RENAME TO `{}`", aside.table, id.table))
                .with_source(e));
        }
        return Err(e);
    }
    Ok(())
}

async fn drop_quietly(session: &Session, id: &Identifier) {
    if let Err(e) = session.catalog().drop_table(id, true).await {
        tracing::warn!("the table {id} of a statement is left over: {e}");
    }
}
