//! The interactive session. An error of one statement is shown, and the session goes on.

mod command;
mod complete;
mod copy;
mod entry;
mod helper;
mod highlight;
mod meta;
mod names;
mod start;
mod words;

use std::path::PathBuf;

use linn::{Error, Result};
use linn_sql::Session;
use rustyline::error::ReadlineError;
use rustyline::history::{DefaultHistory, History};
use rustyline::{CompletionType, Config, Editor};

use crate::context::Context;
use crate::say::{caution, say};
use command::{After, Place};
use helper::Helper;
use names::{Shared, refresh};
pub(crate) use start::sql;

type Lines = Editor<Helper, DefaultHistory>;

/// Reads statements from the terminal until the user leaves.
///
/// # Errors
/// `Unavailable` when the terminal cannot be read.
async fn run(context: &Context, session: &Session) -> Result<()> {
    let config = Config::builder()
        .completion_type(CompletionType::List)
        .auto_add_history(false)
        .history_ignore_space(true)
        .bracketed_paste(true)
        .build();
    let mut editor: Lines = Editor::with_config(config).map_err(failed)?;
    let names = Shared::default();
    editor.set_helper(Some(Helper::new(Shared::clone(&names))));
    let history = history_file();
    if let Some(path) = &history {
        // There is none at the first start.
        editor.load_history(path).ok();
    }
    say!("Linn {}, warehouse {}. Type \\h for help.", env!("CARGO_PKG_VERSION"), context.warehouse());
    let mut place = Place::new(context, session);
    refresh(session, &names);
    loop {
        let text = match read(&mut editor, &session.database()) {
            Ok(Some(text)) => text,
            Ok(None) => continue,
            Err(ReadlineError::Eof) => break,
            Err(e) => return Err(failed(e)),
        };
        remember(&mut editor, history.as_ref(), &text);
        match place.handle(&text).await {
            After::Leave => break,
            After::Refresh => refresh(session, &names),
            After::Go => {}
        }
    }
    Ok(())
}

/// Reads a statement, which may span lines, or a command. None when it was given up with Ctrl-C.
fn read(editor: &mut Lines, database: &str) -> std::result::Result<Option<String>, ReadlineError> {
    let first = format!("{database}> ");
    let further = format!("{:>width$}", "-> ", width = first.chars().count());
    let mut text = String::new();
    loop {
        if let Some(helper) = editor.helper_mut() {
            helper.before.clone_from(&text);
        }
        let line = match editor.readline(if text.is_empty() { &first } else { &further }) {
            Ok(line) => line,
            Err(ReadlineError::Interrupted) => return Ok(None),
            // The end within a statement gives up the statement only.
            Err(ReadlineError::Eof) if !text.is_empty() => return Ok(None),
            Err(e) => return Err(e),
        };
        if text.is_empty() && (line.trim().is_empty() || entry::is_command(line.trim())) {
            return Ok((!line.trim().is_empty()).then(|| line.trim().to_owned()));
        }
        text.push_str(&line);
        let (statement, command) = entry::split_command(&text);
        if command.is_some() || entry::is_complete(statement) {
            return Ok(Some(text.trim().to_owned()));
        }
        text.push('\n');
    }
}

/// Adds an entry to the history, on disk at once: another session may end later.
fn remember(editor: &mut Lines, path: Option<&PathBuf>, text: &str) {
    let known = editor.history().len();
    if editor.add_history_entry(text).is_ok_and(|added| added || editor.history().len() > known)
        && let Some(path) = path
        && let Err(e) = save(editor, path)
    {
        caution!("history is not saved: {e}");
    }
}

fn save(editor: &mut Lines, path: &PathBuf) -> std::result::Result<(), ReadlineError> {
    if let Some(dir) = path.parent() {
        std::fs::create_dir_all(dir)?;
    }
    editor.append_history(path)
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
