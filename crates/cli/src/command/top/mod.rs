//! `linn top`: tables while they are written, compacted and read; once, or again and again until interrupted.

mod screen;
mod state;

use std::collections::HashMap;
use std::io::{IsTerminal, Write};

use linn::core::seam::{Clock, SystemClock};
use linn::{Error, Identifier, Result};

use super::compact::targets;
use crate::args::{OutputFormat, TopArgs};
use crate::context::Context;
use crate::interrupt::stop_signal;
use crate::output::Document;
use state::State;

/// The other screen of the terminal without a cursor, and back.
const ENTER: &str = "\x1b[?1049h\x1b[?25l";
const LEAVE: &str = "\x1b[?25h\x1b[?1049l";

pub(super) async fn run(context: &Context, args: &TopArgs) -> Result<()> {
    let mut known = HashMap::new();
    if args.once {
        let all = look(context, args, &mut known).await?;
        let text = match context.output {
            OutputFormat::Json | OutputFormat::Ndjson => String::new(),
            _ => screen::draw(&all, args.limit, SystemClock.now_millis()),
        };
        return Document { json: state::json(&all), text }.show(context.output);
    }
    if !std::io::stdout().is_terminal() {
        return Err(Error::invalid("standard output is not a terminal").with_hint("add --once to print the state once"));
    }
    write(ENTER)?;
    let done = watch(context, args, &mut known).await;
    write(LEAVE)?;
    done
}

async fn watch(context: &Context, args: &TopArgs, known: &mut HashMap<Identifier, State>) -> Result<()> {
    let stop = stop_signal();
    tokio::pin!(stop);
    loop {
        let all = tokio::select! {
            biased;
            _ = &mut stop => return Ok(()),
            all = look(context, args, known) => all?,
        };
        let lines = crossterm::terminal::size().map_or(24, |(_, lines)| usize::from(lines));
        let mut frame = String::from("\x1b[H");
        for line in screen::draw(&all, args.limit, SystemClock.now_millis()).lines().take(lines.saturating_sub(1)) {
            frame.push_str(line);
            frame.push_str("\x1b[K\r\n");
        }
        frame.push_str("\x1b[J");
        write(&frame)?;
        tokio::select! {
            biased;
            _ = &mut stop => return Ok(()),
            () = SystemClock.sleep(args.interval.saturating_mul(1000)) => {}
        }
    }
}

/// The state of all tables now; what has no new snapshot is not read again.
async fn look(context: &Context, args: &TopArgs, known: &mut HashMap<Identifier, State>) -> Result<Vec<State>> {
    let catalog = context.catalog()?;
    let every = ["*.*".to_owned()];
    let names = if args.targets.is_empty() { &every[..] } else { &args.targets };
    let mut all = Vec::new();
    for id in targets(catalog.as_ref(), names).await? {
        let table = catalog.table(&id).await?;
        let state = State::of(&table, known.remove(&id)).await?;
        known.insert(id, state.clone());
        all.push(state);
    }
    Ok(all)
}

fn write(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(crate::output::gone)
}
