//! `sys.compact`, `sys.rescale`: files written anew.

use linn::core::commit::Commit;
use linn::{Error, Result, committed};

use super::Procedure;
use super::answer::success;
use super::arguments::Arguments;
use super::partition;
use crate::run::show::rows;
use crate::session::{Output, Session};

pub(super) const PROCEDURES: &[Procedure] = &[
    Procedure {
        name: "compact",
        parameters: &[
            "table",
            "partitions",
            "order_strategy",
            "order_by",
            "options",
            "where",
            "partition_idle_time",
            "compact_strategy",
        ],
        run: |session, arguments| Box::pin(compact(session, arguments)),
    },
    Procedure {
        name: "rescale",
        // Those of Flink, then those that only Spark has.
        parameters: &[
            "table",
            "bucket_num",
            "partition",
            "scan_parallelism",
            "sink_parallelism",
            "partitions",
            "where",
        ],
        run: |session, arguments| Box::pin(rescale(session, arguments)),
    },
];

async fn compact(session: &Session, arguments: &Arguments) -> Result<Output> {
    for waiting in ["order_strategy", "order_by", "partition_idle_time"] {
        if arguments.get(waiting).is_some_and(|v| !v.eq_ignore_ascii_case("none")) {
            return Err(Error::unsupported(format!("the argument {waiting} of sys.compact")));
        }
    }
    let table = arguments.table(session, arguments.options("options")?.as_ref()).await?;
    let full = match arguments.get("compact_strategy").unwrap_or("full") {
        s if s.eq_ignore_ascii_case("full") => true,
        s if s.eq_ignore_ascii_case("minor") => false,
        other => return Err(Error::invalid(format!("compact_strategy {other:?} is neither full nor minor"))),
    };
    let named: Vec<&str> = arguments.get("partitions").into_iter().collect();
    let chosen = partition::chosen(session, &table, &named, arguments.get("where")).await?;
    let messages = table.compact(chosen.as_deref(), full).await?;
    let (before, after) =
        messages.iter().fold((0, 0), |(b, a), m| (b + m.compact_before.len(), a + m.compact_after.len()));
    committed(table.committer(table.new_user()).commit(Commit::batch(messages)).await?)?;
    rows(&["result"], [vec![format!("{before} files compacted into {after}")]])
}

/// Gives partitions another number of buckets. How many tasks do it is not for the caller to say here.
async fn rescale(session: &Session, arguments: &Arguments) -> Result<Output> {
    let buckets = arguments.parsed::<i32>("bucket_num", "a number")?;
    let table = arguments.table(session, None).await?;
    let named: Vec<&str> = ["partition", "partitions"].iter().filter_map(|name| arguments.get(name)).collect();
    let chosen = partition::chosen(session, &table, &named, arguments.get("where")).await?;
    committed(table.rescale(&table.new_user(), buckets, chosen.as_deref()).await?)?;
    success()
}
