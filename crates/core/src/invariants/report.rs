//! What a check found.

use std::collections::HashSet;
use std::fmt;

use linn_format::{Error, ErrorKind, Result, SnapshotId};

/// A rule that every table keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rule {
    /// Snapshots have consecutive numbers; times and watermarks do not go back (P1, P3).
    History,
    /// A commit of one user and identifier is there once (P4).
    Once,
    /// The hints point into the history.
    Hint,
    /// Everything that snapshots, tags and changelogs lead to is there, in its size (P7).
    Reachable,
    /// Metadata can be read (P9).
    Readable,
    /// Removed files were there, added ones were not; merging manifests changes nothing (P2, P5).
    Files,
    /// Row counts add up.
    Counts,
    /// Above level 0 the keys of files do not overlap.
    Levels,
    /// Buckets lie within their number, which is one for a partition.
    Buckets,
    /// Index lines and deletion vectors belong to files that are there.
    Index,
    /// Changelogs end where snapshots begin.
    Changelog,
    /// Schemas that files and snapshots name are there.
    Schemas,
    /// Sequence numbers are in order.
    Sequence,
    /// Consumers and tags point into the history.
    Readers,
    /// The rows of a file are what its metadata says (P5, P9).
    Rows,
}

impl Rule {
    /// The rule's name in lower case.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::History => "history",
            Self::Once => "once",
            Self::Hint => "hint",
            Self::Reachable => "reachable",
            Self::Readable => "readable",
            Self::Files => "files",
            Self::Counts => "counts",
            Self::Levels => "levels",
            Self::Buckets => "buckets",
            Self::Index => "index",
            Self::Changelog => "changelog",
            Self::Schemas => "schemas",
            Self::Sequence => "sequence",
            Self::Readers => "readers",
            Self::Rows => "rows",
        }
    }
}

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// A promise is broken: rows are lost, doubled or cannot be read.
    Fault,
    /// Nothing is lost, but something is left over or will hold something up.
    Warning,
}

impl Severity {
    /// `fault` or `warning`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fault => "fault",
            Self::Warning => "warning",
        }
    }
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule that is broken.
    pub rule: Rule,
    /// How bad it is.
    pub severity: Severity,
    /// Path or name of what it is about.
    pub place: String,
    /// What is wrong.
    pub what: String,
    /// What can be done.
    pub advice: String,
    /// The last snapshot that it is about; once this one has expired it is no finding any more.
    pub snapshot: Option<SnapshotId>,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}): {}: {}", self.severity.as_str(), self.rule.as_str(), self.place, self.what)
    }
}

/// Everything that a check found, and what it looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// What is wrong, faults first.
    pub findings: Vec<Finding>,
    /// Snapshots that were looked at.
    pub snapshots: u64,
    /// Manifests that were read.
    pub manifests: u64,
    /// Data, changelog and index files that were looked for.
    pub files: u64,
    /// Rows that were read.
    pub rows: u64,
}

impl Report {
    /// Whether a promise is broken.
    pub fn has_faults(&self) -> bool {
        self.findings.iter().any(|finding| finding.severity == Severity::Fault)
    }

    pub(super) fn fault(&mut self, rule: Rule, place: impl fmt::Display, what: impl fmt::Display) -> &mut Finding {
        self.add(rule, Severity::Fault, place, what)
    }

    pub(super) fn warn(&mut self, rule: Rule, place: impl fmt::Display, what: impl fmt::Display) -> &mut Finding {
        self.add(rule, Severity::Warning, place, what)
    }

    fn add(
        &mut self,
        rule: Rule,
        severity: Severity,
        place: impl fmt::Display,
        what: impl fmt::Display,
    ) -> &mut Finding {
        let (place, what, advice) = (place.to_string(), what.to_string(), String::new());
        let last = self.findings.len();
        self.findings.push(Finding { rule, severity, place, what, advice, snapshot: None });
        &mut self.findings[last]
    }

    /// Orders the findings, faults first. What several steps found of one file is told once, with the first advice.
    pub(super) fn arrange(&mut self) {
        self.findings.sort_by(|a, b| a.severity.cmp(&b.severity).then_with(|| a.place.cmp(&b.place)));
        let mut told = HashSet::new();
        self.findings.retain(|f| told.insert((f.rule, f.place.clone(), f.what.clone())));
    }

    /// The value, or a finding about what cannot be read.
    ///
    /// # Errors
    /// `Unavailable` and the like, which say nothing about the table.
    pub(super) fn read<T>(&mut self, result: Result<T>, place: impl fmt::Display) -> Result<Option<T>> {
        let error: Error = match result {
            Ok(value) => return Ok(Some(value)),
            Err(error) => error,
        };
        let finding = match error.kind() {
            ErrorKind::NotFound => self.fault(Rule::Reachable, place, "is missing"),
            ErrorKind::Corrupt | ErrorKind::Invalid | ErrorKind::Unsupported => {
                self.fault(Rule::Readable, place, &error)
            }
            _ => return Err(error),
        };
        finding.advice = "restore the file from a backup; until then read an older snapshot or a tag".to_owned();
        Ok(None)
    }
}

impl Finding {
    pub(super) fn advise(&mut self, advice: &str) -> &mut Self {
        advice.clone_into(&mut self.advice);
        self
    }

    pub(super) fn until(&mut self, snapshot: SnapshotId) -> &mut Self {
        self.snapshot = Some(snapshot);
        self
    }
}
