//! Commands of the session: their names, and what each takes.

/// A command.
pub(super) struct Meta {
    /// How it is written, as psql has it.
    pub(super) name: &'static str,
    /// Other spellings, those with a point as DuckDB and SQLite have them.
    pub(super) others: &'static [&'static str],
    /// What it takes.
    pub(super) takes: &'static str,
    /// What it does.
    pub(super) help: &'static str,
}

const fn meta(name: &'static str, others: &'static [&'static str], takes: &'static str, help: &'static str) -> Meta {
    Meta { name, others, takes, help }
}

/// All of them, in the order of the help.
pub(super) const COMMANDS: &[Meta] = &[
    meta("\\d", &[".schema", "\\describe"], "[TABLE]", "list tables, or describe one"),
    meta("\\dt", &[".tables"], "[PATTERN]", "list tables (* and ? match)"),
    meta("\\df", &[".functions"], "[PATTERN]", "list functions and procedures"),
    meta("\\l", &[".databases"], "", "list databases"),
    meta("\\c", &[".use"], "DATABASE", "use another database"),
    meta("\\x", &[".expanded"], "[on|off]", "show each row as a list of its columns"),
    meta("\\timing", &[".timer"], "[on|off]", "show how long statements take"),
    meta(
        "\\f",
        &[".mode", "\\format"],
        "FORMAT",
        "format of results: table, vertical, json, ndjson, csv, tsv, markdown",
    ),
    meta("\\o", &[".output"], "[FILE]", "write results to a file; without FILE to the terminal"),
    meta("\\maxrows", &[".maxrows"], "[N]", "rows of a result to show; 0 shows all"),
    meta("\\pager", &[".pager"], "[on|off]", "show long results in a pager"),
    meta("\\theme", &[".theme"], "NAME", "colors: dark, light, none"),
    meta("\\i", &[".read"], "FILE", "run the statements of a file"),
    meta("\\e", &[".edit"], "[FILE]", "edit the last statement in $EDITOR, then run it"),
    meta("\\copy", &[".copy"], "TABLE FROM|TO FILE", "import a file, or export a table or a (query); flags may follow"),
    meta("\\watch", &[".watch"], "[SECONDS]", "run the last statement again and again until Ctrl-C"),
    meta("\\h", &[".help", "\\?", "help"], "", "show this help"),
    meta("\\q", &[".quit", ".exit", "quit", "exit"], "", "leave (also Ctrl-D)"),
];

/// The command of a name.
pub(super) fn find(name: &str) -> Option<&'static Meta> {
    let name = name.to_ascii_lowercase();
    COMMANDS.iter().find(|meta| meta.name == name || meta.others.contains(&name.as_str()))
}

/// A command whose name is like one that there is not.
pub(super) fn similar(name: &str) -> Option<&'static str> {
    let near = |known: &str| {
        let same = known.chars().zip(name.chars()).take_while(|(a, b)| a == b).count();
        same * 2 > name.chars().count().max(known.chars().count())
    };
    COMMANDS.iter().map(|meta| meta.name).find(|known| near(known))
}

/// The help text.
pub(super) fn help() -> String {
    let mut text = String::from(
        "Statements end with ; and may span lines. Tab completes, Ctrl-C cancels the statement that runs.\n\n",
    );
    for meta in COMMANDS {
        let usage = format!("{} {}", meta.name, meta.takes);
        let others: Vec<&str> = meta.others.iter().copied().filter(|name| name.starts_with('.')).collect();
        text.push_str(&format!("  {usage:<26}{:<12}{}\n", others.first().copied().unwrap_or_default(), meta.help));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_found_by_every_name() {
        let mut names: Vec<&str> = COMMANDS.iter().flat_map(|m| m.others.iter().copied().chain([m.name])).collect();
        assert!(names.iter().all(|name| find(name).is_some()));
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
        assert_eq!(similar("\\timig"), Some("\\timing"));
        assert_eq!(similar("\\zz"), None);
        assert!(help().contains("\\watch [SECONDS]"));
    }
}
