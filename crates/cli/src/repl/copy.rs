//! `\copy`: files into tables and rows into files; and `\e`: a statement in the user's editor.

use std::io::Write;
use std::path::Path;
use std::process::Command;

use clap::{Parser, ValueEnum};
use futures::StreamExt;
use linn::{Error, Identifier, Result};
use linn_sql::{Output, Session};

use super::words::{Piece, pieces};
use crate::args::{Cli, Command as Run, OutputFormat};
use crate::context::Context;
use crate::output::{Sink, count};
use crate::say::say;

/// Runs `TABLE FROM 'FILE' [FLAGS]`, `TABLE TO 'FILE' [FLAGS]` or `(QUERY) TO 'FILE'`. The flags are those of `linn table import`
/// and `export`.
pub(super) async fn run(context: &Context, session: &Session, text: &str) -> Result<()> {
    let (what, rest) = subject(text)?;
    let mut words = words(rest);
    let (way, file) = match words.drain(..2.min(words.len())).collect::<Vec<_>>().as_slice() {
        [way, file] => (way.to_ascii_lowercase(), file.clone()),
        _ => return Err(usage()),
    };
    if let Some(query) = what.strip_prefix('(').and_then(|query| query.strip_suffix(')')) {
        return match way.as_str() {
            "to" if words.is_empty() => export(context, session, query, &file).await,
            _ => Err(usage()),
        };
    }
    let table = Identifier::parse(what.trim_matches(['"', '`']), &session.database())?.to_string();
    let mut args: Vec<String> = vec!["linn".into(), "table".into()];
    match way.as_str() {
        "from" => args.extend(["import".into(), table, file]),
        "to" => args.extend(["export".into(), table, "-f".into(), file]),
        _ => return Err(usage()),
    }
    args.extend(words);
    let parsed = Cli::try_parse_from(args).map_err(|e| Error::invalid(first_line(&e.to_string())).with_hint(USAGE))?;
    match parsed.command {
        Run::Table(command) => Box::pin(crate::command::of_table(context, command)).await,
        _ => Err(usage()),
    }
}

const USAGE: &str = "\\copy TABLE FROM 'FILE', \\copy TABLE TO 'FILE' or \\copy (QUERY) TO 'FILE'; flags of \
                     `linn table import` and `export` may follow";

fn usage() -> Error {
    Error::invalid("this is not how \\copy is written").with_hint(USAGE)
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned()
}

/// A name, or a query in parentheses, and what follows it.
fn subject(text: &str) -> Result<(&str, &str)> {
    let text = text.trim();
    let mut depth = 0usize;
    let mut at = 0;
    for (piece, part) in pieces(text) {
        match (piece, part) {
            (Piece::Sign, "(") => depth += 1,
            (Piece::Sign, ")") => depth = depth.saturating_sub(1),
            (Piece::Blank, _) if depth == 0 => {
                return Ok((text.get(..at).unwrap_or_default(), text.get(at..).unwrap_or_default()));
            }
            _ => {}
        }
        at += part.len();
    }
    Err(usage())
}

/// Words, those in single quotes without them.
fn words(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    // None between words; '' is a word.
    let (mut word, mut inside): (Option<String>, bool) = (None, false);
    for c in text.chars() {
        match c {
            '\'' => {
                inside = !inside;
                word.get_or_insert_default();
            }
            c if c.is_whitespace() && !inside => all.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    all.extend(word);
    all
}

async fn export(context: &Context, session: &Session, query: &str, file: &str) -> Result<()> {
    let ending = Path::new(file).extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
    let ending = if ending == "md" { "markdown" } else { ending.as_str() };
    let format = OutputFormat::from_str(ending, true).map_err(|_| {
        Error::invalid("the format of the output is not known")
            .with("file", file)
            .with_hint("let the file end with .csv, .tsv, .json, .ndjson, .arrow, .parquet or .md")
    })?;
    let Output::Rows { schema, mut stream } = session.execute(query).await? else {
        return Err(Error::invalid("the statement in parentheses is not a query"));
    };
    let failed = |e| Error::unavailable("output file cannot be created").with("file", file).with_source(e);
    let out = std::io::BufWriter::new(std::fs::File::create(file).map_err(failed)?);
    let mut sink = Sink::styled(out, format, schema, &context.style)?;
    while let Some(batch) = stream.next().await {
        sink.write(&batch?)?;
    }
    say!("Exported {} to {file}.", count(sink.finish()?, "row"));
    Ok(())
}

/// A text after the user has edited it; of a file that is named, its content then.
pub(super) fn edited(path: &str, text: &str) -> Result<String> {
    let failed = |e: std::io::Error| Error::unavailable("statement cannot be edited").with_source(e);
    let mut kept = None;
    let path = match path {
        "" => {
            let mut file = tempfile::Builder::new().suffix(".sql").tempfile().map_err(failed)?;
            file.write_all(text.as_bytes()).map_err(failed)?;
            let path = file.path().to_owned();
            kept = Some(file);
            path
        }
        path => path.into(),
    };
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    let editor = set("VISUAL").or_else(|| set("EDITOR")).unwrap_or_else(|| "vi".to_owned());
    let status = Command::new("sh").args(["-c", &format!("{editor} \"$0\"")]).arg(&path).status().map_err(failed)?;
    if !status.success() {
        return Err(Error::unavailable(format!("editor '{editor}' failed")).with_hint("set EDITOR to your editor"));
    }
    let edited = std::fs::read_to_string(&path).map_err(failed);
    drop(kept);
    edited
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_and_names_are_told_apart() {
        assert_eq!(subject("(SELECT 1, ')' FROM t) TO 'a b.csv'").unwrap().0, "(SELECT 1, ')' FROM t)");
        assert_eq!(subject("d.t FROM 'x'").unwrap().0, "d.t");
        assert!(subject("t").is_err());
        assert_eq!(words(" FROM '/a b.csv' --null ''  -q"), ["FROM", "/a b.csv", "--null", "", "-q"]);
    }
}
