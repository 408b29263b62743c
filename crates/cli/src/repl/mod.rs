//! The interactive session. An error of one statement is shown, and the session goes on.

mod complete;

use std::path::PathBuf;
use std::time::Instant;

use clap::ValueEnum;
use linn::core::system;
use linn::{Error, Result};
use linn_sql::{Output, Session};
use rustyline::error::ReadlineError;
use rustyline::history::DefaultHistory;
use rustyline::{CompletionType, Config, Editor};

use crate::args::OutputFormat;
use crate::command::show_result;
use crate::context::Context;
use crate::exit;
use crate::interrupt::until_interrupted;
use complete::{Helper, Names};

const HELP: &str = "\
statements end with ;   they may span lines, Ctrl-C gives up the one that runs, Tab completes
  \\d          tables of the current database
  \\d TABLE    columns of a table
  \\l          databases
  \\o FORMAT   format of results: table, json, ndjson, csv, tsv, markdown
  \\i FILE     run the statements of a file
  \\h          this help
  \\q          leave (also Ctrl-D)";

/// Where the session stands.
struct Place<'s> {
    context: Context,
    session: &'s Session,
    /// Whether a statement has changed what names there are.
    stale: bool,
}

/// Reads statements from the terminal until the user leaves.
///
/// # Errors
/// `Unavailable` when the terminal cannot be read.
pub(crate) async fn run(context: &Context, session: &Session) -> Result<()> {
    let config = Config::builder().completion_type(CompletionType::List).auto_add_history(true).build();
    let mut editor: Editor<Helper, DefaultHistory> = Editor::with_config(config).map_err(failed)?;
    editor.set_helper(Some(Helper::default()));
    let history = history_file();
    if let Some(path) = &history {
        // There is none at the first start.
        editor.load_history(path).ok();
    }
    eprintln!("linn {}; \\h for help", env!("CARGO_PKG_VERSION"));
    let mut place = Place { context: context.clone(), session, stale: true };
    loop {
        if std::mem::take(&mut place.stale)
            && let Some(helper) = editor.helper_mut()
        {
            helper.names = names(session).await;
        }
        match editor.readline(&format!("{}> ", session.database())) {
            Ok(line) => {
                if !place.handle(line.trim()).await {
                    break;
                }
            }
            Err(ReadlineError::Interrupted) => {}
            Err(ReadlineError::Eof) => break,
            Err(e) => return Err(failed(e)),
        }
    }
    if let Some(path) = &history
        && let Err(e) = save(&mut editor, path)
    {
        eprintln!("warning: the history is not saved: {e}");
    }
    Ok(())
}

impl Place<'_> {
    /// Runs what was entered; false ends the session.
    async fn handle(&mut self, text: &str) -> bool {
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let rest = rest.trim().trim_end_matches(';');
        let done = match word.trim_end_matches(';') {
            "" => Ok(()),
            "\\q" | "quit" | "exit" => return false,
            "\\h" | "\\?" | "help" => {
                eprintln!("{HELP}");
                Ok(())
            }
            "\\d" if rest.is_empty() => self.statements("SHOW TABLES").await,
            "\\d" => self.statements(&format!("DESCRIBE {rest}")).await,
            "\\l" => self.statements("SHOW DATABASES").await,
            "\\i" => self.file(rest).await,
            "\\o" => self.set_output(rest),
            other if other.starts_with('\\') => {
                eprintln!("there is no {other}; \\h shows what there is");
                Ok(())
            }
            _ => self.statements(text).await,
        };
        if let Err(e) = done {
            exit::report(&e.into());
        }
        true
    }

    fn set_output(&mut self, name: &str) -> Result<()> {
        match OutputFormat::from_str(name, true) {
            Ok(OutputFormat::Arrow | OutputFormat::Debezium) | Err(_) => {
                Err(Error::invalid(format!("{name:?} is no format for a terminal"))
                    .with_hint("\\o takes table, json, ndjson, csv, tsv or markdown"))
            }
            Ok(format) => {
                self.context.output = format;
                Ok(())
            }
        }
    }

    async fn file(&mut self, path: &str) -> Result<()> {
        let text = std::fs::read_to_string(path)
            .map_err(|e| Error::not_found("the file of statements cannot be read").with("file", path).with_source(e))?;
        self.statements(&text).await
    }

    async fn statements(&mut self, text: &str) -> Result<()> {
        let mut begin = now();
        let (context, stale) = (&self.context, &mut self.stale);
        let all = self.session.run(text, async |output: Output| {
            let shown = show_result(context, output).await?;
            let seconds = begin.elapsed().as_secs_f64();
            match shown {
                Some(rows) => eprintln!("{rows} {} in {seconds:.3} s", if rows == 1 { "row" } else { "rows" }),
                None => {
                    *stale = true;
                    eprintln!("done in {seconds:.3} s");
                }
            }
            begin = now();
            Ok(())
        });
        until_interrupted(all).await
    }
}

/// For timings that a person reads; nothing that is stored depends on it.
#[expect(clippy::disallowed_methods, reason = "time that is shown to a person, never stored")]
fn now() -> Instant {
    Instant::now()
}

/// What can be completed now. Names that cannot be read are only not offered.
async fn names(session: &Session) -> Names {
    let catalog = session.catalog();
    let database = session.database();
    let mut names = Names::default();
    for table in catalog.list_tables(&database).await.unwrap_or_default() {
        if let Ok(id) = linn::Identifier::new(&database, &table)
            && let Ok(opened) = catalog.table(&id).await
        {
            names.columns.extend(opened.schema().fields.iter().map(|field| field.name.clone()));
        }
        names.system.extend(system::NAMES.iter().map(|name| format!("{table}${name}")));
        names.tables.push(table);
    }
    names.tables.extend(catalog.list_databases().await.unwrap_or_default());
    names.columns.sort();
    names.columns.dedup();
    names
}

fn save(editor: &mut Editor<Helper, DefaultHistory>, path: &PathBuf) -> std::result::Result<(), ReadlineError> {
    if let Some(dir) = path.parent() {
        std::fs::create_dir_all(dir)?;
    }
    editor.save_history(path)
}

fn history_file() -> Option<PathBuf> {
    let data = std::env::var_os("XDG_DATA_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".local").join("share")))?;
    Some(data.join("linn").join("history"))
}

fn failed(e: ReadlineError) -> Error {
    Error::unavailable("the terminal cannot be read").with_source(e)
}
