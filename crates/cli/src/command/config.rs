//! `linn config show`: every setting, its value and where it comes from. Secrets are masked.

use linn::Result;

use crate::args::ConfigCommand;
use crate::context::Context;
use crate::output::Columns;

pub(super) fn run(context: &Context, command: &ConfigCommand) -> Result<()> {
    let ConfigCommand::Show = command;
    let settings: Vec<_> = context.config.iter().collect();
    Columns::new()
        .text("key", settings.iter().map(|(key, ..)| key))
        .text("value", settings.iter().map(|(key, value, _)| if is_secret(key) { "******" } else { value }))
        .text("origin", settings.iter().map(|(.., origin)| origin.to_string()))
        .show(context.output)
}

/// Whether a key's value must not be shown.
fn is_secret(key: &str) -> bool {
    let key = key.to_lowercase().replace(['.', '_'], "-");
    ["secret", "password", "token", "access-key", "credential", "private"].iter().any(|word| key.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_known_by_their_keys() {
        for key in ["s3.secret-key", "fs.s3a.secret.key", "s3.access-key", "token", "jdbc.password"] {
            assert!(is_secret(key), "{key}");
        }
        assert!(!is_secret("s3.endpoint") && !is_secret("warehouse"));
    }
}
