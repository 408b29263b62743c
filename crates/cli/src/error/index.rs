//! The error index: every code that a message can carry, with its cause and its cure. The book's page is made of it.

/// One code.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The code, such as `LINN-301`. Its first digit is the exit code.
    pub(crate) code: &'static str,
    /// What is wrong, in a few words.
    pub(crate) title: &'static str,
    /// Why it happens.
    pub(crate) cause: &'static str,
    /// What to do.
    pub(crate) cure: &'static str,
}

const fn entry(code: &'static str, title: &'static str, cause: &'static str, cure: &'static str) -> Entry {
    Entry { code, title, cause, cure }
}

/// All codes in order.
pub(crate) const ENTRIES: &[Entry] = &[
    entry(
        "LINN-100",
        "internal error",
        "A fault of Linn itself.",
        "Report it with the message and the command. Nothing was committed unless a message says so.",
    ),
    entry(
        "LINN-200",
        "invalid request",
        "The request or the input is wrong; repeating it cannot help.",
        "Read the message and the lines below it; they name the part that is wrong.",
    ),
    entry(
        "LINN-201",
        "invalid SQL",
        "A statement cannot be parsed or planned, or a value in it cannot be computed: an unknown name, two types that do not \
         compare, a division by zero, an overflow.",
        "Look at the place that the message points to. `DESCRIBE t` lists columns, `SHOW FUNCTIONS` functions.",
    ),
    entry(
        "LINN-202",
        "invalid option",
        "An option has a value that it does not take, or may not be changed on a table that has data.",
        "`linn option explain KEY` shows what the option means and which values it takes.",
    ),
    entry(
        "LINN-203",
        "rows do not fit the table",
        "A value of the input does not fit its column: wrong type, too long, out of range, or null where the column is NOT NULL.",
        "Fix the input, change the column's type, or import with `--on-error skip:FILE`, which writes such rows to FILE.",
    ),
    entry(
        "LINN-204",
        "confirmation needed",
        "The command removes something for good, and standard input is not a terminal that could answer a question.",
        "Add `--yes` to do it, or `--dry-run` to see what would be done.",
    ),
    entry(
        "LINN-300",
        "not found",
        "Something that was named does not exist.",
        "Check the name. The hint lists what there is.",
    ),
    entry(
        "LINN-301",
        "table not found",
        "There is no table of this name in the database, or the command uses another warehouse than expected.",
        "`linn table list DATABASE` lists tables; `linn config show` shows which warehouse is used and why.",
    ),
    entry(
        "LINN-302",
        "database not found",
        "There is no database of this name in the warehouse.",
        "`linn db list` lists databases; `linn db create NAME` creates one.",
    ),
    entry(
        "LINN-303",
        "column not found",
        "The table has no column of this name. Names are case-sensitive.",
        "`linn table show TABLE` lists the columns.",
    ),
    entry(
        "LINN-304",
        "snapshot not found",
        "The snapshot was never made or has expired, or the table is empty.",
        "`linn snapshot list TABLE` lists snapshots. Tags and consumers keep snapshots from expiry.",
    ),
    entry(
        "LINN-305",
        "tag, branch or consumer not found",
        "The table has no tag, branch or consumer of this name.",
        "`linn tag list`, `linn branch list` and `linn consumer list` list them.",
    ),
    entry(
        "LINN-306",
        "file not found",
        "A file that was given to the command does not exist or cannot be read.",
        "Check the path; relative paths start at the current folder.",
    ),
    entry(
        "LINN-307",
        "row not found",
        "The table has no row with the key.",
        "Check the values and their order: the primary key's columns, as `linn table show TABLE` lists them.",
    ),
    entry(
        "LINN-400",
        "already exists",
        "Something of this name exists.",
        "Use another name, or add `--if-not-exists` (in SQL `IF NOT EXISTS`) where an existing one is fine.",
    ),
    entry(
        "LINN-500",
        "unsupported",
        "The request is valid, but Linn does not do this. The message names the feature.",
        "The page Limits lists what is not supported, and what to use in its place.",
    ),
    entry(
        "LINN-600",
        "conflict",
        "Another commit changed the table in a way that rules this change out.",
        "Run the command again; it works on the newer snapshot.",
    ),
    entry(
        "LINN-700",
        "unavailable",
        "The store or a service could not be reached, or gave no answer in time. Nothing was changed.",
        "Try again later. `linn doctor` tests the store.",
    ),
    entry(
        "LINN-701",
        "permission denied",
        "The file system or the store does not allow the operation.",
        "Check owner and mode of the file and its folder, or the credentials and the policy of the bucket.",
    ),
    entry(
        "LINN-702",
        "no space left",
        "The disk or a quota is full. Nothing was committed.",
        "Free some space (`linn snapshot expire`, `linn orphan clean`) and run the command again.",
    ),
    entry(
        "LINN-703",
        "output cannot be written",
        "Standard output or the output file is closed or full.",
        "Check the program that reads the output, and the space on its disk.",
    ),
    entry(
        "LINN-800",
        "unknown outcome",
        "The store did not say whether a commit was made. It may or may not have happened; no file was deleted.",
        "Look at `linn snapshot list TABLE` before you run the command again.",
    ),
    entry(
        "LINN-900",
        "damaged file",
        "Bytes of a file contradict the format: it is cut short, was changed, or is another file.",
        "`linn check TABLE --deep` lists what is damaged and says for each file what can be done about it.",
    ),
    entry(
        "LINN-901",
        "missing file",
        "A file that the table needs does not exist: it was deleted by hand or by a store's own rules, or expired while it was read.",
        "Run the command again; when the file is still missing, `linn check TABLE --deep` says what can be done about it.",
    ),
    entry(
        "LINN-902",
        "integrity check failed",
        "`linn check` found damage.",
        "Each finding has advice of its own in the last column.",
    ),
];

/// The entry of a code; `301` is taken as well.
pub(crate) fn find(code: &str) -> Option<&'static Entry> {
    let digits = code.trim().to_uppercase();
    let digits = digits.strip_prefix("LINN-").unwrap_or(&digits);
    ENTRIES.iter().find(|entry| entry.code.strip_prefix("LINN-") == Some(digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_in_order_and_found() {
        assert!(ENTRIES.windows(2).all(|pair| pair[0].code < pair[1].code));
        for entry in ENTRIES {
            assert_eq!(find(entry.code), Some(entry));
            assert!(entry.cause.ends_with('.') && entry.cure.ends_with('.'), "{}", entry.code);
        }
        assert_eq!(find("301").map(|e| e.title), Some("table not found"));
        assert_eq!(find("999"), None);
    }
}
