//! `linn option`: the table of options.

use linn::format::options::{Effect, OPTIONS, OptionDef, OptionKind, option, similar_option};
use linn::{Error, Result};

use crate::args::OptionCommand;
use crate::context::Context;
use crate::output::{Columns, print};

pub(super) fn run(context: &Context, command: &OptionCommand) -> Result<()> {
    match command {
        OptionCommand::List { pattern } => list(context, pattern.as_deref().unwrap_or_default()),
        OptionCommand::Explain { key } => explain(key),
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

fn explain(key: &str) -> Result<()> {
    let def = option(key).ok_or_else(|| {
        let near: Vec<&str> =
            OPTIONS.iter().map(|def| def.key).filter(|k| k.contains(key) || key.contains(*k)).collect();
        let longer = near.iter().any(|k| k.starts_with(key));
        let hint = match (similar_option(key), near.as_slice()) {
            (Some(similar), _) if !longer => format!("did you mean {similar}?"),
            (_, []) => "`linn option list` shows all keys".to_owned(),
            (_, near) => format!("did you mean {}?", near.iter().take(5).copied().collect::<Vec<_>>().join(", ")),
        };
        Error::not_found(format!("there is no table option {key:?}")).with_hint(hint)
    })?;
    let mut text = format!("{}\n  {}\n  type     {}\n", def.key, def.description, kind(def.kind));
    text.push_str(&format!("  default  {}\n", def.default.unwrap_or("none")));
    if !def.fallback_keys.is_empty() {
        text.push_str(&format!("  older    {}\n", def.fallback_keys.join(", ")));
    }
    if def.immutable {
        text.push_str("  cannot be changed once the table has a snapshot\n");
    }
    if let Some(effect) = effect(def.effect()) {
        text.push_str(&format!("  {effect}\n"));
    }
    print(&text)
}

/// What there is to say of an option that is not simply acted on.
fn effect(effect: Effect) -> Option<String> {
    match effect {
        Effect::Refused => Some("tables that set it are read, but neither made nor written".to_owned()),
        Effect::Beside(main) => Some(format!("only goes with {main}, see there")),
        Effect::Foreign => Some("is about other engines, and kept for them".to_owned()),
        Effect::Inert => Some("is kept, but not acted on".to_owned()),
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
