//! `linn option`: the table of options.

mod pattern;

use linn::format::options::{Effect, OPTIONS, OptionDef, OptionKind, option, similar_option};
use linn::{Error, Result};
use serde_json::{Value, json};

use crate::args::OptionCommand;
use crate::context::Context;
use crate::output::{Columns, Document};

use pattern::Pattern;

pub(super) fn run(context: &Context, command: &OptionCommand) -> Result<()> {
    match command {
        OptionCommand::List { pattern } => list(context, pattern.as_deref().unwrap_or_default()),
        OptionCommand::Explain { key } => explain(context, key),
    }
}

fn list(context: &Context, pattern: &str) -> Result<()> {
    let mut found: Vec<&OptionDef> = OPTIONS.iter().filter(|def| def.key.contains(pattern)).collect();
    found.sort_by_key(|def| def.key);
    Columns::new()
        .text("key", found.iter().map(|def| def.key))
        .text("type", found.iter().map(|def| kind(def.kind)))
        .text("default", found.iter().map(|def| def.default.unwrap_or_default()))
        .text("description", found.iter().map(|def| def.description))
        .show(context.output)
}

fn explain(context: &Context, key: &str) -> Result<()> {
    let documents = match (option(key), pattern::of(key)) {
        (Some(def), _) => vec![of_option(def)],
        (None, Some(pattern)) => vec![of_pattern(pattern)],
        (None, None) => pattern::beginning(key).into_iter().map(of_pattern).collect(),
    };
    let mut documents = documents.into_iter();
    let Some(first) = documents.next() else { return Err(unknown(key)) };
    if documents.len() == 0 {
        return first.show(context.output);
    }
    let all: Vec<Document> = std::iter::once(first).chain(documents).collect();
    let text: Vec<&str> = all.iter().map(|one| one.text.as_str()).collect();
    let json = all.iter().map(|one| one.json.clone()).collect();
    Document { text: text.join("\n"), json: Value::Array(json) }.show(context.output)
}

fn unknown(key: &str) -> Error {
    let near: Vec<&str> = OPTIONS.iter().map(|def| def.key).filter(|k| k.contains(key) || key.contains(*k)).collect();
    let longer = near.iter().any(|k| k.starts_with(key));
    let hint = match (similar_option(key), near.as_slice()) {
        (Some(similar), _) if !longer => format!("did you mean '{similar}'?"),
        (_, []) => "`linn option list` lists all keys".to_owned(),
        (_, near) => {
            let near: Vec<String> = near.iter().take(5).map(|key| format!("'{key}'")).collect();
            format!("did you mean {}?", near.join(", "))
        }
    };
    Error::not_found(format!("unknown option '{key}'")).with_hint(hint)
}

fn of_option(def: &OptionDef) -> Document {
    let mut text = format!("{}\n  {}\n  type     {}\n", def.key, def.description, kind(def.kind));
    text.push_str(&format!("  default  {}\n", def.default.unwrap_or("none")));
    if !def.fallback_keys.is_empty() {
        text.push_str(&format!("  older    {}\n", def.fallback_keys.join(", ")));
    }
    if def.immutable {
        text.push_str("  cannot be changed once the table has a snapshot\n");
    }
    let effect = effect(def.effect());
    if let Some(effect) = &effect {
        text.push_str(&format!("  {effect}\n"));
    }
    let json = json!({
        "key": def.key, "description": def.description, "type": kind(def.kind), "default": def.default,
        "older_keys": def.fallback_keys, "immutable": def.immutable, "effect": effect,
    });
    Document { json, text }
}

fn of_pattern(pattern: &Pattern) -> Document {
    let (key, description, kind) = (pattern.key, pattern.description, kind(pattern.kind));
    let default = pattern.default.unwrap_or("none");
    Document {
        text: format!("{key}\n  {description}\n  type     {kind}\n  default  {default}\n"),
        json: json!({"key": key, "description": description, "type": kind, "default": pattern.default}),
    }
}

/// What there is to say of an option that is not simply acted on.
fn effect(effect: Effect) -> Option<String> {
    match effect {
        Effect::Refused => {
            Some("not supported: tables that set it can be read, but neither created nor written".to_owned())
        }
        Effect::Beside(main) => Some(format!("only goes with {main}, see there")),
        Effect::Foreign => Some("for other engines; Linn keeps it".to_owned()),
        Effect::Inert => Some("kept, but has no effect".to_owned()),
        _ => None,
    }
}

fn kind(kind: OptionKind) -> String {
    match kind {
        OptionKind::Bool => "true or false".to_owned(),
        OptionKind::Int | OptionKind::Long => "number".to_owned(),
        OptionKind::Double => "decimal number".to_owned(),
        OptionKind::Text => "text".to_owned(),
        OptionKind::Memory => "size, such as 128 mb".to_owned(),
        OptionKind::Duration => "time, such as 10 min".to_owned(),
        OptionKind::Map => "key:value pairs separated by commas".to_owned(),
        OptionKind::Choice(words) => words.join(" | "),
        _ => "text".to_owned(),
    }
}
