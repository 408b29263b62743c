//! Running what was entered: statements, and commands of the session.

use std::sync::Arc;
use std::time::Instant;

use clap::ValueEnum;
use linn::core::seam::{Clock, SystemClock};
use linn::format::types::fields_from_arrow;
use linn::{Error, Identifier, Result};
use linn_sql::{Output, Session};

use super::{copy, entry, meta};
use crate::args::OutputFormat;
use crate::command::{hinted, matches, show_result, show_table};
use crate::context::Context;
use crate::interrupt::{is_interruption, until_interrupted};
use crate::output::{Columns, count, set_view, thousands, view};
use crate::say::{always, say};
use crate::{error, theme};

/// What comes after an entry.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum After {
    /// The next one.
    Go,
    /// The next one, and names may have changed.
    Refresh,
    /// Nothing.
    Leave,
}

/// Where the session stands.
pub(super) struct Place<'s> {
    pub(super) context: Context,
    pub(super) session: &'s Session,
    timing: bool,
    /// The statements that ran last.
    last: String,
    /// Whether a statement has changed what names there are.
    stale: bool,
}

impl<'s> Place<'s> {
    /// A place at the start of a session.
    pub(super) fn new(context: &Context, session: &'s Session) -> Self {
        Self { context: context.clone(), session, timing: true, last: String::new(), stale: false }
    }

    /// Runs what was entered, and shows its error.
    pub(super) async fn handle(&mut self, text: &str) -> After {
        let done = if entry::is_command(text) {
            match self.command(text).await {
                Ok(true) => return After::Leave,
                Ok(false) => Ok(()),
                Err(e) => Err(e),
            }
        } else {
            match entry::split_command(text) {
                (statement, Some(command)) if command.starts_with("\\watch") || command.starts_with("\\e") => {
                    self.last = statement.to_owned();
                    self.command(command).await.map(|_| ())
                }
                (statement, Some(command)) => self.with_command(statement, command).await,
                (statement, None) => self.statements(statement).await,
            }
        };
        match done {
            Err(e) if is_interruption(&e) => always(format_args!("Cancelled.")),
            Err(e) => error::report(&hinted(&self.context, e).await.into()),
            Ok(()) => {}
        }
        if std::mem::take(&mut self.stale) { After::Refresh } else { After::Go }
    }

    /// `\x` after a statement is for that statement alone, `\g` and others run once it has run.
    async fn with_command(&mut self, statement: &str, command: &str) -> Result<()> {
        match command.trim_end_matches(';') {
            "\\x" | "\\gx" => {
                let before = view().expanded;
                set_view(|view| view.expanded = true);
                let done = self.statements(statement).await;
                set_view(|view| view.expanded = before);
                done
            }
            "\\g" => self.statements(statement).await,
            other => {
                self.statements(statement).await?;
                self.command(other).await.map(|_| ())
            }
        }
    }

    /// Runs a command; true ends the session.
    async fn command(&mut self, text: &str) -> Result<bool> {
        let (name, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let (name, rest) = (name.trim_end_matches(';'), rest.trim().trim_end_matches(';').trim_end());
        let Some(meta) = meta::find(name) else {
            let hint = meta::similar(name).map_or_else(
                || "\\h lists the commands".to_owned(),
                |known| format!("did you mean '{known}'? \\h lists the commands"),
            );
            return Err(Error::invalid(format!("unknown command '{name}'")).with_hint(hint));
        };
        match meta.name {
            "\\q" => return Ok(true),
            "\\h" => always(format_args!("{}", meta::help().trim_end())),
            "\\d" if !rest.is_empty() => self.describe(rest).await?,
            "\\d" | "\\dt" => self.tables(rest).await?,
            "\\df" => self.functions(rest)?,
            "\\l" => self.statements_quietly("SHOW DATABASES").await?,
            "\\c" => self.use_database(rest).await?,
            "\\i" => self.file(rest).await?,
            "\\e" => self.edit(rest).await?,
            "\\copy" => {
                self.stale = true;
                until_interrupted(copy::run(&self.context, self.session, rest)).await?;
            }
            "\\watch" => self.watch(rest).await?,
            _ => self.set(meta.name, rest)?,
        }
        Ok(false)
    }

    /// Commands that only change how results are shown.
    fn set(&mut self, name: &str, value: &str) -> Result<()> {
        let on = |now: bool| switch(now, value);
        match name {
            "\\x" => {
                let on = on(view().expanded)?;
                set_view(|view| view.expanded = on);
                say!("Expanded display is {}.", word(on));
            }
            "\\timing" => {
                self.timing = on(self.timing)?;
                say!("Timing is {}.", word(self.timing));
            }
            "\\pager" => {
                let on = on(view().pager)?;
                set_view(|view| view.pager = on);
                say!("Pager is {}.", word(on));
            }
            "\\maxrows" => {
                let rows = match value {
                    "" => None,
                    text => {
                        Some(text.parse().map_err(|_| Error::invalid(format!("'{text}' is not a number of rows")))?)
                    }
                };
                set_view(|view| view.max_rows = rows);
            }
            "\\theme" => {
                let theme = theme::named(value).ok_or_else(|| {
                    Error::invalid(format!("unknown theme '{value}'")).with_hint("themes are dark, light and none")
                })?;
                theme::choose(theme);
            }
            "\\f" => self.format(value)?,
            _ => self.output(value)?,
        }
        Ok(())
    }

    fn format(&mut self, name: &str) -> Result<()> {
        match OutputFormat::from_str(name, true) {
            Ok(OutputFormat::Arrow | OutputFormat::Parquet | OutputFormat::Debezium) | Err(_) => {
                Err(Error::invalid(format!("'{name}' is not a format for the terminal"))
                    .with_hint("formats are table, vertical, json, ndjson, csv, tsv and markdown"))
            }
            Ok(format) => {
                self.context.output = format;
                say!("Format is {name}.");
                Ok(())
            }
        }
    }

    /// `\o FILE`; the name of a format chooses that, as the flag `-o` does.
    fn output(&mut self, name: &str) -> Result<()> {
        if name.is_empty() {
            set_view(|view| view.file = None);
            return Ok(());
        }
        if OutputFormat::from_str(name, true).is_ok() {
            return self.format(name);
        }
        let file = std::fs::File::create(name)
            .map_err(|e| Error::unavailable("output file cannot be created").with("file", name).with_source(e))?;
        set_view(|view| view.file = Some(Arc::new(file)));
        say!("Results go to {name}; \\o ends that.");
        Ok(())
    }

    async fn tables(&self, pattern: &str) -> Result<()> {
        let mut tables = self.session.catalog().list_tables(&self.session.database()).await?;
        if !pattern.is_empty() {
            tables.retain(|table| matches(pattern, table));
        }
        if tables.is_empty() {
            say!("No tables in {}.", self.session.database());
            return Ok(());
        }
        Columns::new().text("table", tables).show(self.context.output)
    }

    fn functions(&self, pattern: &str) -> Result<()> {
        let fits = |name: &String| pattern.is_empty() || matches(pattern, name);
        let mut all: Vec<(String, &str)> = Vec::new();
        all.extend(self.session.functions().into_iter().filter(fits).map(|name| (name, "function")));
        let procedures = self.session.procedures().into_iter().map(|name| format!("sys.{name}"));
        all.extend(procedures.filter(fits).map(|name| (name, "procedure")));
        Columns::new()
            .text("name", all.iter().map(|(name, _)| name))
            .text("kind", all.iter().map(|(_, kind)| kind))
            .show(self.context.output)
    }

    /// A table as `linn table show` has it; of anything else its columns.
    async fn describe(&self, name: &str) -> Result<()> {
        let id = Identifier::parse(name, &self.session.database());
        if let Ok(id) = id
            && id.system.is_none()
            && self.session.catalog().table(&id).await.is_ok()
        {
            return show_table(&self.context, &id.to_string()).await;
        }
        let query = self.session.execute(&format!("SELECT * FROM {name} LIMIT 0")).await;
        let Output::Rows { schema, .. } = query.map_err(|e| without_text(&e))? else {
            return Err(Error::invalid(format!("'{name}' has no columns")));
        };
        let fields = fields_from_arrow(&schema)?;
        Columns::new()
            .text("column", fields.iter().map(|field| &field.name))
            .text("type", fields.iter().map(|field| field.data_type.to_string()))
            .show(self.context.output)
    }

    async fn use_database(&mut self, name: &str) -> Result<()> {
        if name.is_empty() {
            say!("Database is {}.", self.session.database());
            return Ok(());
        }
        let name = name.trim_matches(['"', '`']).replace('"', "\"\"");
        self.stale = true;
        self.statements_quietly(&format!("USE \"{name}\"")).await
    }

    async fn file(&mut self, path: &str) -> Result<()> {
        let text = std::fs::read_to_string(path)
            .map_err(|e| Error::not_found("file of statements cannot be read").with("file", path).with_source(e))?;
        self.statements(&text).await
    }

    async fn edit(&mut self, path: &str) -> Result<()> {
        let text = copy::edited(path, &self.last)?;
        if text.trim().is_empty() {
            return Ok(());
        }
        always(format_args!("{}", text.trim_end()));
        self.statements(&text).await
    }

    /// Runs the last statement again and again.
    async fn watch(&mut self, seconds: &str) -> Result<()> {
        let seconds: f64 = match seconds.trim() {
            "" => 2.0,
            text => text.parse().map_err(|_| Error::invalid(format!("'{text}' is not a number of seconds")))?,
        };
        let last = self.last.clone();
        if last.trim().is_empty() {
            return Err(Error::invalid("there is no statement to watch").with_hint("run one first"));
        }
        let millis = std::time::Duration::try_from_secs_f64(seconds.max(0.1)).unwrap_or_default().as_millis();
        let millis = u64::try_from(millis).unwrap_or(u64::MAX);
        loop {
            self.statements(&last).await?;
            until_interrupted(async {
                SystemClock.sleep(millis).await;
                Ok(())
            })
            .await?;
        }
    }

    async fn statements_quietly(&mut self, text: &str) -> Result<()> {
        let context = &self.context;
        until_interrupted(self.session.run(text, async |output| show_result(context, output).await.map(|_| ()))).await
    }

    /// Runs statements, and tells of each how long it took.
    pub(super) async fn statements(&mut self, text: &str) -> Result<()> {
        text.clone_into(&mut self.last);
        let mut begin = now();
        let (context, stale, timing) = (&self.context, &mut self.stale, self.timing);
        let all = self.session.run(text, async |output: Output| {
            let shown = show_result(context, output).await?;
            let took = if timing { format!(" in {:.3} s", begin.elapsed().as_secs_f64()) } else { String::new() };
            match shown {
                Some(rows) => {
                    let rows = if rows == 1 { count(rows, "row") } else { format!("{} rows", thousands(rows)) };
                    say!("{rows}{took}");
                }
                None => {
                    *stale = true;
                    if timing {
                        say!("Done{took}");
                    }
                }
            }
            begin = now();
            Ok(())
        });
        until_interrupted(all).await
    }
}

/// `on`, `off`, or the other one when nothing is said.
fn switch(now: bool, value: &str) -> Result<bool> {
    match value.to_ascii_lowercase().as_str() {
        "" => Ok(!now),
        "on" | "true" | "1" => Ok(true),
        "off" | "false" | "0" => Ok(false),
        other => Err(Error::invalid(format!("'{other}' is neither on nor off"))),
    }
}

fn word(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

/// For timings that a person reads; nothing that is stored depends on it.
#[expect(clippy::disallowed_methods, reason = "time that is shown to a person, never stored")]
fn now() -> Instant {
    Instant::now()
}
/// The error of a statement that nobody typed, without its text and the places in it.
fn without_text(error: &Error) -> Error {
    let said = error.context().iter().filter(|(key, _)| !matches!(*key, "at" | "text" | "statement"));
    let bare = said.fold(Error::new(error.kind(), error.message()), |bare, (key, value)| bare.with(key, value));
    match error.hint() {
        Some(hint) => bare.with_hint(hint),
        None => bare,
    }
}
