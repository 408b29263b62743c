//! Options whose value is one of a few words, as enums.

/// Declares an enum whose variants are the words of an option.
macro_rules! choice {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $word:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$vdoc])* $variant),*
        }

        impl $name {
            /// The word of the option.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),* }
            }

            /// The variant of a word, in any case.
            pub fn from_word(word: &str) -> Option<Self> {
                match word {
                    $(w if w.eq_ignore_ascii_case($word) => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

choice! {
    /// How the records of one key become one row (spec: features.md B2).
    MergeEngine {
        /// The last record wins.
        Deduplicate = "deduplicate",
        /// Non-null values overwrite.
        PartialUpdate = "partial-update",
        /// Each column has an aggregate function.
        Aggregate = "aggregation",
        /// The first record wins.
        FirstRow = "first-row",
    }
}

choice! {
    /// Which commits of others rule out the commit of a statement that reads the table it writes.
    Isolation {
        /// Those that changed rows which it read, or would have read, or which it writes.
        Serializable = "serializable",
        /// Those that changed rows which it writes.
        Snapshot = "snapshot",
        /// None, unless files that it replaces are gone.
        None = "none",
    }
}

choice! {
    /// Who writes changelog files (spec: features.md B4).
    ChangelogProducer {
        /// Nobody.
        None = "none",
        /// The writer, from its input.
        Input = "input",
        /// Full compactions, by comparing before and after.
        FullCompaction = "full-compaction",
        /// Compactions of level 0, by looking up the previous row.
        Lookup = "lookup",
    }
}

choice! {
    /// Direction of `sequence.field`.
    SortOrder {
        /// The greatest value wins.
        Ascending = "ascending",
        /// The least value wins.
        Descending = "descending",
    }
}

choice! {
    /// Where a scan starts, `scan.mode` (spec: features.md B11).
    ScanMode {
        /// By the other scan options; without any, the latest snapshot.
        Default = "default",
        /// The latest snapshot, then its successors.
        LatestFull = "latest-full",
        /// Old spelling of `latest-full`.
        Full = "full",
        /// Only what comes after the latest snapshot.
        Latest = "latest",
        /// What the latest snapshot changed.
        LatestDelta = "latest-delta",
        /// The snapshot of the latest full compaction, then its successors.
        CompactedFull = "compacted-full",
        /// What comes after a time.
        FromTimestamp = "from-timestamp",
        /// A snapshot at a time, or files made after it.
        FromCreationTimestamp = "from-creation-timestamp",
        /// Files made after a time.
        FromFileCreationTime = "from-file-creation-time",
        /// What comes from a snapshot on.
        FromSnapshot = "from-snapshot",
        /// A whole snapshot, then its successors.
        FromSnapshotFull = "from-snapshot-full",
        /// Changes between two points.
        Incremental = "incremental",
    }
}

choice! {
    /// What makes tags by themselves (spec: features.md B14).
    TagCreation {
        /// Nothing.
        None = "none",
        /// The time of a commit.
        ProcessTime = "process-time",
        /// The watermark of a commit.
        Watermark = "watermark",
        /// Every batch job.
        Batch = "batch",
    }
}

choice! {
    /// How often tags make themselves.
    TagPeriod {
        /// Each day.
        Daily = "daily",
        /// Each hour.
        Hourly = "hourly",
        /// Each two hours.
        TwoHours = "two-hours",
    }
}

choice! {
    /// How tags that make themselves are named after their period.
    TagFormatter {
        /// `2026-01-31`, `2026-01-31 05`.
        WithDashes = "with_dashes",
        /// `20260131`, `20260131 05`.
        WithoutDashes = "without_dashes",
        /// `20260131`, `2026013105`.
        WithoutDashesAndSpaces = "without_dashes_and_spaces",
    }
}

choice! {
    /// What changes between two points are read from, `incremental-between-scan-mode`.
    IncrementalSource {
        /// The changelog where the table writes one, else the files that commits added.
        Auto = "auto",
        /// The files that commits added.
        Delta = "delta",
        /// The changelog.
        Changelog = "changelog",
        /// A comparison of the two states.
        Diff = "diff",
    }
}

choice! {
    /// How the readers of one consumer go on, `consumer.mode`.
    ConsumerMode {
        /// No reader begins a snapshot before all have delivered the one before.
        ExactlyOnce = "exactly-once",
        /// Each at its own pace.
        AtLeastOnce = "at-least-once",
    }
}
