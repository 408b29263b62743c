//! `linn table alter`: all changes of one call are made together, or none.

use linn::format::schema::SchemaChange;
use linn::{Error, Result};

use super::table::column;
use crate::args::AlterArgs;
use crate::config::key_value;
use crate::context::{Context, identifier, warn_of_slips};
use crate::say::say;

pub(super) async fn run(context: &Context, args: AlterArgs) -> Result<()> {
    let id = identifier(&args.table)?;
    let changes = changes(&args)?;
    let catalog = context.catalog()?;
    if changes.is_empty() && args.rename_to.is_none() {
        return Err(Error::invalid("nothing to change").with("table", &id).with_hint(
            "give a change, for example --set-option or --add-column; `linn table alter --help` lists them",
        ));
    }
    if !changes.is_empty() {
        catalog.alter_table(&id, changes).await?;
        say!("Altered table {id}.");
    }
    if let Some(name) = &args.rename_to {
        let to = identifier(name)?;
        catalog.rename_table(&id, &to).await?;
        say!("Renamed table {id} to {to}.");
    }
    Ok(())
}

fn changes(args: &AlterArgs) -> Result<Vec<SchemaChange>> {
    let mut changes = Vec::new();
    for pair in &args.set_option {
        let (key, value) = key_value(pair)?;
        warn_of_slips([key]);
        changes.push(SchemaChange::SetOption { key: key.into(), value: value.into() });
    }
    warn_of_slips(args.remove_option.iter().map(String::as_str));
    changes.extend(args.remove_option.iter().map(|key| SchemaChange::RemoveOption { key: key.clone() }));
    changes.extend(args.drop_column.iter().map(|name| SchemaChange::DropColumn { path: vec![name.clone()] }));
    for pair in &args.rename_column {
        let (old, new) = key_value(pair)?;
        changes.push(SchemaChange::RenameColumn { path: vec![old.into()], new_name: new.into() });
    }
    for text in &args.change_type {
        let field = column(text)?;
        changes.push(SchemaChange::UpdateColumnType {
            path: vec![field.name],
            new_type: field.data_type,
            keep_nullability: !text.to_uppercase().ends_with("NULL"),
        });
    }
    for text in &args.add_column {
        let field = column(text)?;
        changes.push(SchemaChange::AddColumn {
            path: vec![field.name],
            data_type: field.data_type,
            description: None,
            position: None,
        });
    }
    Ok(changes)
}
