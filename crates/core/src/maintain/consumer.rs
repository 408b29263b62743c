//! Consumers: how far named readers have come, and those that have stood still for too long (spec: features.md B14).

use std::time::Duration;

use linn_format::snapshot::Consumer;
use linn_format::{ErrorKind, Result, ResultExt};

use crate::table::Table;

/// The smallest number that a consumer of the table's branch has yet to read.
///
/// # Errors
/// `Corrupt` with the path of a consumer that cannot be read: it may hold anything.
pub async fn next_wanted(table: &Table) -> Result<Option<i64>> {
    let mut next: Option<i64> = None;
    for (path, _) in files(table).await? {
        match table.storage().read(&path, None).await {
            Ok(bytes) => {
                let consumer = Consumer::from_json(&bytes).context("path", &path)?;
                next = Some(next.map_or(consumer.next_snapshot.0, |least| least.min(consumer.next_snapshot.0)));
            }
            Err(e) if e.kind() == ErrorKind::NotFound => {}
            Err(e) => return Err(e),
        }
    }
    Ok(next)
}

/// Names of the consumers whose files have not changed for longer than `age`, by the store's times.
///
/// # Errors
/// `Unavailable` when the store fails.
pub async fn stale(table: &Table, age: Duration) -> Result<Vec<String>> {
    let age = i64::try_from(age.as_millis()).unwrap_or(i64::MAX);
    let limit = table.env().clock.now_millis().saturating_sub(age);
    let files = files(table).await?.into_iter().filter(|(_, modified)| modified.is_some_and(|time| time < limit));
    Ok(files.filter_map(|(path, _)| name(&path).map(str::to_owned)).collect())
}

/// Removes consumers; what they held from expiry is free.
///
/// # Errors
/// `Unavailable` when the store fails.
pub async fn remove(table: &Table, names: &[String]) -> Result<()> {
    for name in names {
        table.storage().delete(&format!("{}/consumer-{name}", table.consumer_dir())).await?;
    }
    Ok(())
}

/// The names of all consumers, in order.
///
/// # Errors
/// `Unavailable` when the store fails.
pub async fn names(table: &Table) -> Result<Vec<String>> {
    Ok(files(table).await?.iter().filter_map(|(path, _)| name(path).map(str::to_owned)).collect())
}

async fn files(table: &Table) -> Result<Vec<(String, Option<i64>)>> {
    let entries = table.storage().list(&table.consumer_dir()).await?;
    let files = entries.into_iter().filter(|entry| !entry.is_dir() && name(&entry.path).is_some());
    Ok(files.map(|entry| (entry.path, entry.modified_millis)).collect())
}

fn name(path: &str) -> Option<&str> {
    path.rsplit('/').next()?.strip_prefix("consumer-")
}
