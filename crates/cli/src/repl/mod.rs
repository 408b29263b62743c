//! The interactive session. An error of one statement is shown, and the session goes on.

mod complete;

use std::path::PathBuf;
use std::time::Instant;

use linn::{Error, Result};
use linn_sql::{Output, Session};
use rustyline::error::ReadlineError;
use rustyline::history::DefaultHistory;
use rustyline::{CompletionType, Config, Editor};

use crate::command::show_result;
use crate::context::Context;
use crate::exit;
use complete::{Helper, Names};

const HELP: &str = "\
statements end with ;   they may span lines
  \\d          tables of the current database
  \\d TABLE    columns of a table
  \\h          this help
  \\q          leave (also Ctrl-D)";

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
    loop {
        if let Some(helper) = editor.helper_mut() {
            helper.names = names(session).await;
        }
        match editor.readline(&format!("{}> ", session.database())) {
            Ok(line) => {
                if !handle(context, session, line.trim()).await {
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

/// Runs what was entered; false ends the session.
async fn handle(context: &Context, session: &Session, text: &str) -> bool {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let rest = rest.trim().trim_end_matches(';');
    let done = match word.trim_end_matches(';') {
        "" => Ok(()),
        "\\q" | "quit" | "exit" => return false,
        "\\h" | "help" => {
            eprintln!("{HELP}");
            Ok(())
        }
        "\\d" if rest.is_empty() => statement(context, session, "SHOW TABLES").await,
        "\\d" => statement(context, session, &format!("DESCRIBE {rest}")).await,
        other if other.starts_with('\\') => {
            eprintln!("there is no {other}; \\h shows what there is");
            Ok(())
        }
        _ => statement(context, session, text).await,
    };
    if let Err(e) = done {
        exit::report(&e.into());
    }
    true
}

async fn statement(context: &Context, session: &Session, text: &str) -> Result<()> {
    let begin = now();
    session
        .run(text, async |output: Output| {
            let shown = show_result(context, output).await?;
            let seconds = begin.elapsed().as_secs_f64();
            match shown {
                Some(rows) => eprintln!("{rows} rows in {seconds:.3} s"),
                None => eprintln!("done in {seconds:.3} s"),
            }
            Ok(())
        })
        .await
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
