//! The pager: a program that shows a text longer than the screen.

use std::io::{IsTerminal, Write};
use std::process::{Command, Stdio};

/// The user's pager, as a command of the shell; none when it is switched off or there is no terminal to answer it.
pub(super) fn pager() -> Option<String> {
    if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        return None;
    }
    chosen(std::env::var("LINN_PAGER").ok(), std::env::var("PAGER").ok())
}

fn chosen(ours: Option<String>, usual: Option<String>) -> Option<String> {
    let command = ours.or(usual).unwrap_or_else(|| "less".to_owned());
    let command = command.trim();
    // A pager that pages nothing is none.
    (!matches!(command, "" | "cat")).then(|| command.to_owned())
}

/// Shows a text; false when the pager cannot be started.
pub(super) fn page(command: &str, text: &str) -> bool {
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).stdin(Stdio::piped());
    if std::env::var_os("LESS").is_none() {
        // Colours as they are, long lines to be scrolled, the screen left as it was.
        shell.env("LESS", "RSFX");
    }
    // Ctrl-C is for the pager while it runs; the first registration keeps it from ending this program.
    #[cfg(unix)]
    let _kept = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt());
    let Ok(mut child) = shell.spawn() else { return false };
    if let Some(mut input) = child.stdin.take() {
        // A user who leaves early does not read the rest.
        let _ = input.write_all(text.as_bytes());
    }
    // The shell says 127 of a program that there is not.
    child.wait().is_ok_and(|status| status.code() != Some(127))
}

#[cfg(test)]
mod tests {
    use super::chosen;

    #[test]
    fn linns_own_setting_wins_and_cat_is_none() {
        let of = |ours: Option<&str>, usual: Option<&str>| chosen(ours.map(str::to_owned), usual.map(str::to_owned));
        assert_eq!(of(None, None).as_deref(), Some("less"));
        assert_eq!(of(Some("more"), Some("less")).as_deref(), Some("more"));
        assert_eq!(of(Some(""), Some("less")), None);
        assert_eq!(of(None, Some("cat")), None);
    }
}
