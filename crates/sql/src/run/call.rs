//! Procedures: `CALL sys.compact(…)`, `CALL sys.rescale(…)`.

use linn::core::commit::Commit;
use linn::format::partition::partition_from_values;
use linn::{Error, Options, Result};

use super::insert::finish;
use super::show::rows;
use crate::parse::CallArgument;
use crate::provider::open_table;
use crate::session::{Output, Session};

/// A procedure and its parameters in order.
struct Procedure {
    name: &'static str,
    parameters: &'static [&'static str],
}

/// The names and the order of the parameters are the reference's.
const PROCEDURES: &[Procedure] = &[
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
    },
];

pub(super) async fn call(session: &Session, name: &[String], arguments: Vec<CallArgument>) -> Result<Output> {
    let called = name.last().map(String::as_str).unwrap_or_default();
    let Some(procedure) = PROCEDURES.iter().find(|p| p.name.eq_ignore_ascii_case(called)) else {
        let known: Vec<String> = PROCEDURES.iter().map(|p| format!("sys.{}", p.name)).collect();
        return Err(Error::unsupported(format!("the procedure sys.{called}"))
            .with_hint(format!("there is {}", known.join(", "))));
    };
    let given = Arguments::bind(procedure, arguments)?;
    match procedure.name {
        "rescale" => rescale(session, &given).await,
        _ => compact(session, &given).await,
    }
}

struct Arguments {
    values: Vec<(&'static str, String)>,
}

impl Arguments {
    fn bind(procedure: &Procedure, arguments: Vec<CallArgument>) -> Result<Self> {
        let mut values: Vec<(&'static str, String)> = Vec::new();
        for (at, argument) in arguments.into_iter().enumerate() {
            let parameter = match &argument.name {
                Some(name) => procedure.parameters.iter().find(|p| p.eq_ignore_ascii_case(name)),
                None => procedure.parameters.get(at),
            };
            let Some(parameter) = parameter else {
                return Err(Error::invalid(format!("sys.{} takes no such argument", procedure.name))
                    .with("argument", argument.name.unwrap_or_else(|| format!("number {}", at + 1)))
                    .with_hint(format!("it takes {}", procedure.parameters.join(", "))));
            };
            if values.iter().any(|(p, _)| p == parameter) {
                return Err(Error::invalid("an argument is given twice").with("argument", parameter));
            }
            values.push((parameter, argument.value));
        }
        Ok(Self { values })
    }

    /// A value that is given and not empty.
    fn get(&self, name: &str) -> Option<&str> {
        self.values.iter().find(|(p, _)| *p == name).map(|(_, v)| v.as_str()).filter(|v| !v.is_empty())
    }
}

async fn compact(session: &Session, arguments: &Arguments) -> Result<Output> {
    let name = arguments.get("table").ok_or_else(|| {
        Error::invalid("sys.compact needs the argument table").with_hint("CALL sys.compact(`table` => 'db.t')")
    })?;
    for waiting in ["order_strategy", "order_by", "where", "partition_idle_time"] {
        if arguments.get(waiting).is_some_and(|v| !v.eq_ignore_ascii_case("none")) {
            return Err(Error::unsupported(format!("the argument {waiting} of sys.compact")));
        }
    }
    let id = session.identifier(&name.split('.').map(str::to_owned).collect::<Vec<_>>())?;
    let options = arguments.get("options").map(key_values).transpose()?;
    let options = options.map(|pairs| {
        let mut options = Options::new();
        for (key, value) in pairs {
            options.set(key, value);
        }
        options
    });
    let table = open_table(session.catalog(), &id, options.as_ref()).await?;
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
    let name = arguments.get("table").ok_or_else(|| {
        Error::invalid("sys.rescale needs the argument table").with_hint("CALL sys.rescale(`table` => 'db.t')")
    })?;
    if arguments.get("where").is_some() {
        return Err(Error::unsupported("the argument where of sys.rescale").with_hint("name the partitions"));
    }
    let buckets = arguments.get("bucket_num").map(|text| {
        text.trim().parse::<i32>().map_err(|_| Error::invalid(format!("bucket_num {text:?} is not a number")))
    });
    let buckets = buckets.transpose()?;
    let id = session.identifier(&name.split('.').map(str::to_owned).collect::<Vec<_>>())?;
    let table = open_table(session.catalog(), &id, None).await?;
    let fields = table.schema().partition_fields();
    let named = [arguments.get("partition"), arguments.get("partitions")].into_iter().flatten();
    let partitions = named
        .flat_map(|text| text.split(';'))
        .map(|spec| partition_from_values(&key_values(spec)?, &fields, table.options().partition_default_name()))
        .collect::<Result<Vec<_>>>()?;
    let chosen = (!partitions.is_empty()).then_some(partitions.as_slice());
    finish(table.rescale(&table.env().ids.uuid(), buckets, chosen).await?)?;
    rows(&["result"], [vec!["Success".to_owned()]])
}

/// `k=v,k=v`.
fn key_values(text: &str) -> Result<Vec<(String, String)>> {
    text.split(',')
        .map(|pair| match pair.split_once('=') {
            Some((key, value)) => Ok((key.trim().to_owned(), value.trim().to_owned())),
            None => Err(Error::invalid(format!("{pair:?} is not of the form key=value"))),
        })
        .collect()
}
