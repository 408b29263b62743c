//! Changes of the table's definition while it is in use.

use std::collections::{BTreeMap, BTreeSet};

use linn_core::{Schemas, Table};
use linn_format::schema::SchemaChange;
use linn_format::types::DataType;
use linn_format::{Result, SchemaId};
use rand::Rng;

use super::Actor;
use crate::sim::plant::Hazard;
use crate::sim::shape::Producer;

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
    let mut changes = Vec::new();
    let change = match actor.world().draw(|random| random.random_range(0..5)) {
        0 => {
            // Full compactions that tell changes go by the highest level, which follows the trigger unless it is said.
            if actor.shape.producer == Producer::Full {
                changes.push(set("num-levels", &table.options().num_levels()?.to_string()));
            }
            set("num-sorted-run.compaction-trigger", "4")
        }
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
    changes.push(change);
    actor.world().action("schema changes");
    if actor.world().has(Hazard::H11) {
        let is_due = !table.options().deletion_vectors_enabled()? && has_levels(&table).await?;
        return if is_due { force(actor, &table).await } else { Ok(()) };
    }
    Schemas::new(&table).commit(&table, &changes).await.map(drop)
}

/// Whether a bucket has files on several levels above 0.
async fn has_levels(table: &Table) -> Result<bool> {
    let plan = table.scan().every_level().plan().await?;
    let mut levels: BTreeMap<_, BTreeSet<i32>> = BTreeMap::new();
    for split in &plan.splits {
        let above = split.files.iter().map(|file| file.level).filter(|level| *level > 0);
        levels.entry((split.partition.to_serialized(), split.bucket)).or_default().extend(above);
    }
    Ok(levels.values().any(|levels| levels.len() > 1))
}

/// Switches deletion vectors on without asking whether the files allow it.
async fn force(actor: &Actor, table: &Table) -> Result<()> {
    let mut schema = table.schema().clone();
    schema.id = SchemaId(schema.id.0 + 1);
    schema.options.set("deletion-vectors.enabled", "true");
    let path = format!("{}/schema-{}", table.schema_dir(), schema.id);
    actor.process.env().storage.create(&path, schema.to_json().into()).await
}
