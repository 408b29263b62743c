//! Names of tables, with the suffixes for branches and system tables.

use std::fmt;

use linn_format::{Error, Result, ResultExt};

/// `db.table`, `db.table$snapshots`, `db.table$branch_b`, `db.table$branch_b$snapshots`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Identifier {
    /// Database.
    pub database: String,
    /// Table without suffixes.
    pub table: String,
    /// Branch.
    pub branch: Option<String>,
    /// System table such as `snapshots`.
    pub system: Option<String>,
}

const BRANCH_PREFIX: &str = "branch_";

impl Identifier {
    /// The table `object` (suffixes parsed) of a database.
    ///
    /// # Errors
    /// `Invalid` for names that are empty or cannot be a folder.
    pub fn new(database: &str, object: &str) -> Result<Self> {
        check_name("database", database)?;
        let mut parts = object.split('$');
        let table = parts.next().unwrap_or_default();
        check_name("table", table)?;
        let rest: Vec<&str> = parts.collect();
        let (branch, system) = match rest.as_slice() {
            [] => (None, None),
            [one] => match one.strip_prefix(BRANCH_PREFIX) {
                Some(branch) => (Some(branch), None),
                None => (None, Some(*one)),
            },
            [first, second] if first.starts_with(BRANCH_PREFIX) => (first.strip_prefix(BRANCH_PREFIX), Some(*second)),
            _ => return Err(Error::invalid(format!("{object:?} is not a table name")).with("database", database)),
        };
        if let Some(branch) = branch {
            check_name("branch", branch)?;
        }
        Ok(Self {
            database: database.to_owned(),
            table: table.to_owned(),
            branch: branch.map(str::to_owned),
            system: system.map(str::to_owned),
        })
    }

    /// Parses `db.table` or `table`, which is then in `default_database`.
    ///
    /// # Errors
    /// `Invalid` as [`Identifier::new`].
    pub fn parse(text: &str, default_database: &str) -> Result<Self> {
        match text.split_once('.') {
            Some((database, object)) => Self::new(database, object).context("name", text),
            None => Self::new(default_database, text),
        }
    }

    /// The table without branch and system suffix.
    #[must_use]
    pub fn base(&self) -> Self {
        Self { branch: None, system: None, ..self.clone() }
    }
}

impl fmt::Display for Identifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.database, self.table)?;
        if let Some(branch) = &self.branch {
            write!(f, "${BRANCH_PREFIX}{branch}")?;
        }
        if let Some(system) = &self.system {
            write!(f, "${system}")?;
        }
        Ok(())
    }
}

/// A name becomes a folder of the warehouse, so it must be one path segment and must not climb.
fn check_name(what: &'static str, name: &str) -> Result<()> {
    let bad = name.is_empty()
        || name == "."
        || name == ".."
        || name.chars().any(|c| matches!(c, '/' | '\\' | '$' | '\0') || c.is_control());
    if bad {
        return Err(Error::invalid(format!("{name:?} cannot be the name of a {what}"))
            .with_hint("use a name without '/', '\\', '$' and control characters"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_are_parsed_and_printed() {
        for text in ["db.t", "db.t$files", "db.t$branch_b", "db.t$branch_b$files"] {
            assert_eq!(Identifier::parse(text, "x").unwrap().to_string(), text);
        }
        assert_eq!(Identifier::parse("t", "x").unwrap().to_string(), "x.t");
    }

    #[test]
    fn names_cannot_climb_out_of_the_warehouse() {
        for text in ["../x.t", "db...", "db./etc", "db.a/b", "db.", ".t", "db.t$a$b", "db.t$branch_.."] {
            assert!(Identifier::parse(text, "x").is_err(), "{text}");
        }
    }
}
