//! `linn table tail`: changes as they come. Progress is recorded only once what it covers is printed.

use futures::StreamExt;
use linn::core::stream::{ChangeStream, Changes, Consumers, OutOfRange, Position};
use linn::core::system::{ChangeLog, CommitStamp, Log};
use linn::core::{Snapshots, Tags};
use linn::format::predicate::Predicate;
use linn::{Error, Options, Result, SnapshotId, Table};

use crate::args::{OutputFormat, TailArgs};
use crate::context::{Context, DATABASE, identifier, options, warn_of_slips};
use crate::interrupt::stop_signal;
use crate::output::ChangeSink;
use crate::say::caution;

/// How often a table is looked at, unless it says so.
const INTERVAL: &str = "1 s";

pub(super) async fn run(context: &Context, args: &TailArgs) -> Result<()> {
    let id = identifier(&args.table)?;
    let session = context.session(DATABASE)?;
    let filter = match &args.filter {
        Some(text) => Some(session.condition(&id, text).await?),
        None => None,
    };
    let table = session.catalog().table(&id).await?;
    let given = options(&args.options)?;
    warn_of_slips(given.iter().map(|(key, _)| key));
    let mut all = Options::new();
    if !table.options().contains("continuous.discovery-interval") {
        all.set("continuous.discovery-interval", INTERVAL);
    }
    let mut all = all.merged(&given);
    // Events say it of themselves.
    for with in args.with.iter().filter(|_| context.output != OutputFormat::Debezium) {
        all.set(with.option(), "true");
    }
    let table = table.with_options(&all)?;
    let start = start(&table, args).await?;
    Tail::new(context, args, table.with_options(&start)?, filter)?.run(args).await
}

/// The options that say where to start.
async fn start(table: &Table, args: &TailArgs) -> Result<Options> {
    let mut options = Options::new();
    if let Some(consumer) = &args.consumer {
        options.set("consumer-id", consumer.as_str());
    }
    // Whoever gives options of their own knows where to start.
    let chosen = ["scan.mode", "scan.snapshot-id", "scan.timestamp", "scan.timestamp-millis"];
    let default = match (args.no_follow, chosen.iter().any(|key| table.options().contains(key))) {
        (_, true) if args.from.is_none() => return Ok(options),
        (true, _) => "earliest",
        (false, _) => "latest",
    };
    let from = args.from.as_deref().unwrap_or(default).trim();
    match from {
        "latest" => _ = options.set("scan.mode", "latest"),
        "full" => _ = options.set("scan.mode", "latest-full"),
        "earliest" => _ = options.set("scan.snapshot-id", "1"),
        _ => from_place(table, from, &mut options).await?,
    }
    Ok(options)
}

async fn from_place(table: &Table, from: &str, options: &mut Options) -> Result<()> {
    let (kind, value) = from.split_once([':', '=', ' ']).unwrap_or(("", from));
    let number = |text: &str| text.trim().parse::<i64>().ok();
    match (kind, value.trim()) {
        ("" | "snapshot", value) if number(value).is_some() => {
            options.set("scan.snapshot-id", value);
            // What the options clamp in silence is told to a person.
            let earliest = Snapshots::new(table).earliest_id().await?;
            if let (Some(earliest), Some(wanted)) = (earliest, number(value).map(SnapshotId))
                && wanted < earliest
                && !table.options().changelog_decoupled()?
            {
                caution!("snapshot {wanted} has expired; starting from {earliest}, the earliest there is");
            }
        }
        ("tag", name) => {
            let tag = Tags::new(table).get(name).await?;
            options.set("scan.snapshot-id", tag.snapshot.id.next().to_string());
        }
        ("time" | "timestamp", value) if number(value).is_some() => _ = options.set("scan.timestamp-millis", value),
        ("time" | "timestamp", value) => _ = options.set("scan.timestamp", value),
        _ if from.starts_with(|c: char| c.is_ascii_digit()) => _ = options.set("scan.timestamp", from),
        _ => {
            return Err(Error::invalid(format!("cannot start from '{from}'")).with_hint(
                "give latest, full, earliest, a snapshot's number, tag:NAME, or a time such as '2024-06-01 12:00:00'",
            ));
        }
    }
    Ok(())
}

struct Tail {
    table: Table,
    log: ChangeLog,
    sink: ChangeSink,
    consumer: Option<(Consumers, String)>,
    /// What the consumer has recorded.
    saved: Option<SnapshotId>,
    filter: Option<Predicate>,
    fields: Vec<linn::format::types::DataField>,
    follows: bool,
    left: usize,
}

impl Tail {
    fn new(context: &Context, args: &TailArgs, table: Table, filter: Option<Predicate>) -> Result<Self> {
        let visible = table.visible_fields()?;
        let schema = Log::Audit.schema(&table)?;
        let system = schema.fields().len() - visible.len();
        let names: Vec<&str> = match args.select.as_slice() {
            [] => visible.iter().map(|field| field.name.as_str()).collect(),
            names => names.iter().map(|name| name.trim()).collect(),
        };
        let at = |name: &&str| {
            visible.iter().position(|field| field.name == **name).ok_or_else(|| {
                let all: Vec<&str> = visible.iter().map(|field| field.name.as_str()).collect();
                Error::not_found("column does not exist")
                    .with("column", name)
                    .with_hint(format!("its columns are {}", all.join(", ")))
            })
        };
        let places = names.iter().map(at).collect::<Result<Vec<_>>>()?;
        let columns: Vec<usize> = (0..system).chain(places.iter().map(|place| system + place)).collect();
        let log = ChangeLog::open(Log::Audit, &table, Some(&columns))?;
        let fields = places.iter().filter_map(|&place| visible.get(place).cloned()).collect();
        Ok(Self {
            sink: ChangeSink::new(context.output, log.schema(), table.name(), &context.style)?,
            log,
            consumer: args.consumer.clone().map(|id| (Consumers::new(&table), id)),
            table,
            saved: None,
            filter,
            fields,
            follows: !args.no_follow,
            left: args.limit.unwrap_or(usize::MAX),
        })
    }

    async fn open(&self, position: Option<Position>) -> Result<ChangeStream> {
        let mut changes = self.table.changes().fields(self.fields.clone()).filter(self.filter.clone());
        if self.table.options().read_sequence_numbers()? {
            changes = changes.sequence_numbers();
        }
        if !self.follows {
            changes = changes.until_now();
        }
        changes.position(position).open().await
    }

    async fn run(mut self, args: &TailArgs) -> Result<()> {
        let mut stream = self.open(None).await?;
        // Listening begins before anything is printed; a second interrupt ends the program at once.
        let interrupted = stop_signal();
        tokio::pin!(interrupted);
        while self.left > 0 {
            let next = tokio::select! {
                biased;
                _ = &mut interrupted => break,
                next = stream.next() => next,
            };
            match next {
                Some(Ok(changes)) => self.deliver(&changes).await?,
                Some(Err(e)) => stream = self.survive(e, args).await?,
                None => break,
            }
        }
        self.sink.finish()
    }

    /// Prints changes, and then records that they are printed.
    async fn deliver(&mut self, changes: &Changes) -> Result<()> {
        let mut whole = true;
        if changes.rows.num_rows() > 0 {
            let stamp = CommitStamp { snapshot: changes.snapshot, time_millis: changes.commit_millis };
            let rows = self.log.show(&changes.rows, stamp)?;
            let printed = self.sink.write(&rows, stamp, self.left)?;
            self.left = self.left.saturating_sub(printed.changes);
            whole = printed.whole;
            self.sink.flush()?;
        }
        let next = changes.position.for_consumer().filter(|next| whole && self.saved != Some(*next));
        if let (Some((consumers, id)), Some(next)) = (&self.consumer, next) {
            consumers.set(id, next).await?;
            self.saved = Some(next);
        }
        Ok(())
    }

    /// Goes on after changes that have expired, unless someone counts on every one of them.
    async fn survive(&self, error: Error, args: &TailArgs) -> Result<ChangeStream> {
        let gone = OutOfRange::of(&error).filter(|range| range.has_expired()).copied();
        match gone.and_then(|range| Some((range.wanted, range.earliest?))) {
            Some((wanted, earliest)) if self.follows && args.consumer.is_none() => {
                let last = SnapshotId(earliest.0 - 1);
                caution!(
                    "the changes of snapshots {wanted} to {last} of {} expired before they were read; continuing with \
                     {earliest}. A consumer (--consumer ID) keeps what it has not read.",
                    self.table.name()
                );
                self.open(Some(Position::at(earliest))).await
            }
            _ => Err(error),
        }
    }
}
