//! Writing an error: `error[CODE]: message`, then lines for where, why and what to do.

use std::io::{self, Write};

use linn::{Error, ErrorKind};

use super::classify::{entry, ours, refused};
use crate::interrupt::is_interruption;
use crate::theme::{self, Role, Theme};

/// Writes the error to standard error, with its context and hint on lines of their own.
pub(crate) fn report(error: &anyhow::Error) {
    let mut err = io::stderr().lock();
    // Nothing can be done when standard error is gone.
    let _ = write_error(&mut err, error, theme::stderr());
}

fn write_error(out: &mut impl Write, error: &anyhow::Error, theme: Theme) -> io::Result<()> {
    let Some(ours) = ours(error) else {
        return writeln!(out, "{} {error:#}", theme.paint(Role::Error, "error:"));
    };
    if is_interruption(ours) {
        writeln!(out, "interrupted")?;
        return ours.context().iter().try_for_each(|(key, value)| writeln!(out, "  {key}: {}", indented(value)));
    }
    let entry = entry(ours);
    let label = format!("error[{}]:", entry.code);
    writeln!(out, "{} {}", theme.paint(Role::Error, &label), indented(&headline(ours)))?;
    let mut told: Vec<(&str, &str)> = Vec::new();
    let mut reasons: Vec<String> = Vec::new();
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(ours);
    while let Some(current) = cause {
        if let Some(linn) = current.downcast_ref::<Error>() {
            for (key, value) in linn.context() {
                if !told.contains(&(*key, value.as_str())) {
                    told.push((*key, value.as_str()));
                }
            }
        }
        let text = match current.downcast_ref::<Error>() {
            Some(linn) => linn.message().to_owned(),
            None => plain(&current.to_string()),
        };
        // The first is the headline; some errors end with their cause.
        let said = reasons.last().is_some_and(|before| before.ends_with(&text));
        if !said {
            reasons.push(text);
        }
        cause = current.source();
    }
    for (key, value) in told {
        writeln!(out, "  {key}: {}", indented(value))?;
    }
    for reason in reasons.iter().skip(1) {
        writeln!(out, "  because: {}", indented(reason))?;
    }
    if let Some(hint) = hint(ours, entry.code) {
        writeln!(out, "  {} {}", theme.paint(Role::Hint, "hint:"), indented(&hint))?;
    }
    Ok(())
}

/// What the stores say when they are refused something, which says no more than that.
const REFUSALS: &[&str] = &[
    "the file system does not permit this",
    "the store does not permit this",
    "no space left on the disk",
    "no space left",
];

/// What went wrong, first of all.
fn headline(error: &Error) -> String {
    let message = match error.message() {
        "no such file" => "a file of the table is missing".to_owned(),
        // These messages name what is asked for, as the library's texts say the kind of an error before the message.
        message if error.kind() == ErrorKind::Unsupported && !message.contains("not supported") => {
            format!("not supported: {message}")
        }
        message => message.to_owned(),
    };
    let refusal = match refused(error) {
        Some(io::ErrorKind::PermissionDenied) => "permission denied",
        Some(_) => "no space left",
        None => return message,
    };
    match (error.kind(), REFUSALS.contains(&message.as_str())) {
        (ErrorKind::UnknownOutcome | ErrorKind::Conflict, _) => message,
        (_, true) => refusal.to_owned(),
        (_, false) => format!("{refusal}: {message}"),
    }
}

/// What to do about it: what the error itself says, else what the index says of errors like it.
fn hint(error: &Error, code: &str) -> Option<String> {
    match code {
        // A hint about the rows would lead astray when the system has refused.
        "LINN-701" => Some(
            "check owner and mode of the file and its folder, or the credentials and the policy of the bucket".into(),
        ),
        "LINN-702" => Some("free some space and run the command again".into()),
        "LINN-900" | "LINN-901" => Some(error.hint().map_or_else(
            || "`linn check TABLE --deep` lists what is damaged or missing, and what can be done about it".to_owned(),
            str::to_owned,
        )),
        "LINN-902" => error.hint().map(str::to_owned),
        _ => error.hint().map(str::to_owned),
    }
}

/// A cause of a library without its inner workings: `Kind (status) at operation, context: { … } => message`.
fn plain(text: &str) -> String {
    let Some((before, rest)) = text.split_once(", context: {") else { return text.to_owned() };
    let message = rest.split_once("} => ").map_or("", |(_, message)| message);
    let message = message.split(", source: ").next().unwrap_or(message);
    let kind = before.split(' ').next().unwrap_or(before);
    match message.is_empty() {
        true => format!("the store answered: {kind}"),
        false => format!("the store answered: {kind}: {message}"),
    }
}

/// Further lines stand below the first one.
fn indented(text: &str) -> String {
    text.trim_end().replace('\n', "\n    ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(error: Error) -> String {
        let mut out = Vec::new();
        write_error(&mut out, &anyhow::Error::new(error), Theme::None).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_refusal_comes_first_and_its_hint_is_about_it() {
        let denied = Error::invalid("the file system does not permit this")
            .with("path", "file:/w/t")
            .with_hint("these rows are wrong")
            .with_source(io::Error::from(io::ErrorKind::PermissionDenied));
        let text = shown(denied);
        assert!(text.starts_with("error[LINN-701]: permission denied\n  path: file:/w/t\n"), "{text}");
        assert!(!text.contains("these rows") && text.contains("  hint: check owner"), "{text}");
    }

    #[test]
    fn stores_speak_without_their_context() {
        let text = "Unexpected (temporary) at read, context: { url: http://h/b, called: http_util } => send http request, source: x";
        assert_eq!(plain(text), "the store answered: Unexpected: send http request");
        assert_eq!(plain("no such thing"), "no such thing");
    }

    #[test]
    fn carets_keep_their_place() {
        let text = shown(Error::invalid("SQL: unknown column x\n  SELECT x\n         ^"));
        assert_eq!(text, "error[LINN-201]: SQL: unknown column x\n      SELECT x\n             ^\n");
    }
}
