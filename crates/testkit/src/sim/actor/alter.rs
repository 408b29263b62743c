//! Changes of the table's definition while it is in use.

use linn_core::{Schemas, Table};
use linn_format::schema::SchemaChange;
use linn_format::types::DataType;
use linn_format::{Result, SchemaId};
use rand::Rng;

use super::Actor;
use crate::sim::plant::Hazard;

/// Changes options and adds columns now and then.
pub async fn run(actor: Actor) {
    loop {
        actor.rest(6_000).await;
        if let Err(e) = once(&actor).await
            && e.kind() != linn_format::ErrorKind::AlreadyExists
        {
            actor.judge("a change of the schema", &e);
        }
    }
}

/// Changes the schema once.
///
/// # Errors
/// What the store yields.
pub async fn once(actor: &Actor) -> Result<()> {
    let table = actor.open().await?;
    let set = |key: &str, value: &str| SchemaChange::SetOption { key: key.to_owned(), value: value.to_owned() };
    let change = match actor.world().draw(|random| random.random_range(0..5)) {
        0 => set("num-sorted-run.compaction-trigger", "4"),
        1 => set("target-file-size", "1 mb"),
        2 => set("file.compression", "snappy"),
        3 => set("manifest.merge-min-count", "3"),
        _ => {
            let name = format!("x{}", table.schema().highest_field_id);
            SchemaChange::AddColumn {
                path: vec![name],
                data_type: DataType::string(),
                description: None,
                position: None,
            }
        }
    };
    actor.world().action("schema changes");
    if actor.world().has(Hazard::H11) {
        return force(actor, &table).await;
    }
    Schemas::new(&table).commit(&table, &[change]).await.map(drop)
}

/// Switches deletion vectors on without asking whether the files allow it.
async fn force(actor: &Actor, table: &Table) -> Result<()> {
    let mut schema = table.schema().clone();
    schema.id = SchemaId(schema.id.0 + 1);
    schema.options.set("deletion-vectors.enabled", "true");
    let path = format!("{}/schema-{}", table.schema_dir(), schema.id);
    actor.process.env().storage.create(&path, schema.to_json().into()).await
}
