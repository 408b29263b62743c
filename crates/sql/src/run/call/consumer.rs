//! `sys.reset_consumer` and its kin: who follows a table.

use linn::core::Snapshots;
use linn::core::maintain::parse_time;
use linn::core::stream::Consumers;
use linn::{Error, Result, SnapshotId};

use super::Procedure;
use super::answer::success;
use super::arguments::Arguments;
use crate::run::show::rows;
use crate::session::{Output, Session};

pub(super) const PROCEDURES: &[Procedure] = &[
    Procedure {
        name: "reset_consumer",
        // The names of Flink, then those of Spark.
        parameters: &["table", "consumer_id", "next_snapshot_id", "consumerId", "nextSnapshotId"],
        run: |session, arguments| Box::pin(reset(session, arguments)),
    },
    Procedure {
        name: "clear_consumers",
        // The names of Flink, then those of Spark.
        parameters: &[
            "table",
            "including_consumers",
            "excluding_consumers",
            "includingConsumers",
            "excludingConsumers",
        ],
        run: |session, arguments| Box::pin(clear(session, arguments)),
    },
    Procedure {
        // Linn's own: what the option consumer.expiration-time does at commits.
        name: "expire_consumers",
        parameters: &["table", "older_than"],
        run: |session, arguments| Box::pin(expire(session, arguments)),
    },
];

/// Lets a consumer go on from a snapshot that is there; without one it is forgotten.
async fn reset(session: &Session, arguments: &Arguments) -> Result<Output> {
    let table = arguments.table(session, None).await?;
    let id = match arguments.get("consumerId") {
        Some(id) => id,
        None => arguments.require("consumer_id")?,
    };
    let what = "a snapshot id";
    let next = match arguments.parsed::<i64>("nextSnapshotId", what)? {
        Some(next) => Some(next),
        None => arguments.parsed("next_snapshot_id", what)?,
    };
    let consumers = Consumers::new(&table);
    match next.map(SnapshotId) {
        Some(next) => {
            Snapshots::new(&table).get(next).await?;
            consumers.set(id, next).await?;
        }
        None => {
            consumers.delete(id).await?;
        }
    }
    success()
}

async fn clear(session: &Session, arguments: &Arguments) -> Result<Output> {
    let either = |flink: &str, spark: &str| arguments.get(flink).or_else(|| arguments.get(spark));
    let including = either("including_consumers", "includingConsumers");
    let excluding = either("excluding_consumers", "excludingConsumers");
    let table = arguments.table(session, None).await?;
    let consumers = Consumers::new(&table);
    let mut cleared = Vec::new();
    for name in consumers.names().await? {
        let included = match including {
            Some(pattern) => session.matches(&name, pattern).await?,
            None => true,
        };
        let excluded = match excluding {
            Some(pattern) => session.matches(&name, pattern).await?,
            None => false,
        };
        if included && !excluded {
            cleared.push(name);
        }
    }
    for name in &cleared {
        consumers.delete(name).await?;
    }
    success()
}

async fn expire(session: &Session, arguments: &Arguments) -> Result<Output> {
    let table = arguments.table(session, None).await?;
    let age = match arguments.get("older_than") {
        Some(time) => {
            let age = table.env().clock.now_millis().saturating_sub(parse_time(&table, time)?);
            std::time::Duration::from_millis(u64::try_from(age).unwrap_or(0))
        }
        None => table.options().consumer_expiration_time()?.ok_or_else(|| {
            Error::invalid("no expiration time for consumers is set")
                .with("table", table.name())
                .with_hint("give older_than, or set the option consumer.expiration-time")
        })?,
    };
    rows(&["expired_consumers"], [Consumers::new(&table).expire(age).await?])
}
