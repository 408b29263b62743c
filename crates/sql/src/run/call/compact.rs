//! `sys.compact`, `sys.rescale`: files written anew.

use linn::core::commit::Commit;
use linn::format::partition::partition_from_values;
use linn::{Error, Result};

use super::Procedure;
use super::answer::success;
use super::arguments::{Arguments, key_values};
use crate::run::insert::finish;
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
    for waiting in ["order_strategy", "order_by", "where", "partition_idle_time"] {
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
    let partitions = match arguments.get("partitions") {
        Some(text) => text.split(';').map(key_values).collect::<Result<Vec<_>>>()?,
        None => Vec::new(),
    };
    let fields = table.schema().partition_fields();
    let rows_of =
        |spec: &Vec<(String, String)>| partition_from_values(spec, &fields, table.options().partition_default_name());
    let partitions = partitions.iter().map(rows_of).collect::<Result<Vec<_>>>()?;
    let chosen = (!partitions.is_empty()).then_some(partitions.as_slice());
    let messages = table.compact(chosen, full).await?;
    let (before, after) =
        messages.iter().fold((0, 0), |(b, a), m| (b + m.compact_before.len(), a + m.compact_after.len()));
    finish(table.committer(table.env().ids.uuid()).commit(Commit::batch(messages)).await?)?;
    rows(&["result"], [vec![format!("{before} files compacted into {after}")]])
}

/// Gives partitions another number of buckets. How many tasks do it is not for the caller to say here.
async fn rescale(session: &Session, arguments: &Arguments) -> Result<Output> {
    if arguments.get("where").is_some() {
        return Err(Error::unsupported("the argument where of sys.rescale").with_hint("name the partitions"));
    }
    let buckets = arguments.parsed::<i32>("bucket_num", "a number")?;
    let table = arguments.table(session, None).await?;
    let fields = table.schema().partition_fields();
    let named = [arguments.get("partition"), arguments.get("partitions")].into_iter().flatten();
    let partitions = named
        .flat_map(|text| text.split(';'))
        .map(|spec| partition_from_values(&key_values(spec)?, &fields, table.options().partition_default_name()))
        .collect::<Result<Vec<_>>>()?;
    let chosen = (!partitions.is_empty()).then_some(partitions.as_slice());
    finish(table.rescale(&table.env().ids.uuid(), buckets, chosen).await?)?;
    success()
}
