//! Which faults a store can have, how often a seed lets them happen, and how often each has happened
//! (spec: reliability.md §4).

use std::collections::BTreeMap;

use rand::Rng;

pub use linn_core::storage::Op;

/// What kind of file an operation is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// `snapshot/`, and copies of snapshots in `changelog/` and `tag/`.
    Snapshot,
    /// `schema/`.
    Schema,
    /// `manifest/`.
    Manifest,
    /// `index/`: deletion vectors and hash indexes.
    Index,
    /// The hints `LATEST` and `EARLIEST`.
    Hint,
    /// Below a bucket.
    Data,
    /// Whatever else: consumers, branches, statistics.
    Other,
}

impl Place {
    /// The kind of a path.
    pub fn of(path: &str) -> Self {
        let file = path.rsplit('/').next().unwrap_or_default();
        let within = |folder: &str| path.contains(&format!("/{folder}/")) || path.ends_with(&format!("/{folder}"));
        match () {
            () if matches!(file, "LATEST" | "EARLIEST") => Self::Hint,
            () if within("snapshot") || within("changelog") || within("tag") => Self::Snapshot,
            () if within("schema") => Self::Schema,
            () if within("manifest") => Self::Manifest,
            () if within("index") => Self::Index,
            () if path.contains("/bucket-") => Self::Data,
            () => Self::Other,
        }
    }
}

/// How an operation goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// Nothing happens, and the caller is told so.
    Before,
    /// Nothing happens, and the caller is told that nobody knows.
    Unclear,
    /// It happens, and the caller is told that nobody knows.
    After,
    /// It happens, and the caller is told that the store cannot be reached.
    AfterAsBefore,
    /// The caller is told that nobody knows; it happens a while later.
    Late,
    /// Another exclusive creation of the same file is under way (409): nothing happens.
    Race,
    /// A file comes back shorter than it is.
    Short,
    /// One bit of what comes back is another one.
    Flip,
    /// The process dies before it happens.
    CrashBefore,
    /// The process dies after it happened.
    CrashAfter,
    /// The process dies in the middle: half of a temporary file stays.
    Torn,
    /// The process stands still for a long time, then goes on.
    Pause,
}

impl Fault {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::Before,
        Self::Unclear,
        Self::After,
        Self::AfterAsBefore,
        Self::Late,
        Self::Race,
        Self::Short,
        Self::Flip,
        Self::CrashBefore,
        Self::CrashAfter,
        Self::Torn,
        Self::Pause,
    ];

    /// Whether an operation can have this fault at this place.
    pub fn fits(self, op: Op, place: Place) -> bool {
        let writes = matches!(op, Op::Put | Op::Create | Op::Close);
        match self {
            Self::Before | Self::CrashBefore | Self::Pause => true,
            Self::Unclear | Self::After | Self::CrashAfter => op.is_effect(),
            // Elsewhere it would break the contract of the store.
            Self::AfterAsBefore => op == Op::Delete || (op == Op::Create && place == Place::Snapshot),
            Self::Late | Self::Torn => writes,
            Self::Race => op == Op::Create,
            Self::Short => op == Op::Read,
            // Only deletion vectors have a checksum over all that is read of them.
            Self::Flip => op == Op::Read && place == Place::Index,
        }
    }

    /// Whether the caller cannot know whether it happened.
    pub fn is_ambiguous(self) -> bool {
        matches!(self, Self::Unclear | Self::After | Self::AfterAsBefore | Self::Late)
    }

    /// Whether the process ends.
    pub fn is_crash(self) -> bool {
        matches!(self, Self::CrashBefore | Self::CrashAfter | Self::Torn)
    }
}

/// How often each fault happens, as a share of the operations that can have it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rates(BTreeMap<Fault, Rate>);

#[derive(Debug, Clone, Copy, PartialEq)]
struct Rate {
    share: f64,
    /// Only there; everywhere without.
    place: Option<Place>,
}

impl Rates {
    /// Some faults at some rates: each seed has its own.
    pub fn draw(random: &mut impl Rng) -> Self {
        let mut rates = BTreeMap::new();
        for fault in Fault::ALL.into_iter().filter(|fault| *fault != Fault::Race) {
            if random.random_bool(0.5) {
                let most = match fault {
                    Fault::Pause => 0.002,
                    fault if fault.is_crash() => 0.004,
                    Fault::Flip => 0.1,
                    _ => 0.03,
                };
                let share = most * [0.1, 0.3, 1.0][random.random_range(0..3)];
                rates.insert(fault, Rate { share, place: None });
            }
        }
        Self(rates)
    }

    /// Only one fault, at one place.
    pub fn only(fault: Fault, place: Place, share: f64) -> Self {
        Self([(fault, Rate { share, place: Some(place) })].into())
    }

    /// This fault at this rate, whatever was drawn.
    pub fn set(&mut self, fault: Fault, share: f64) {
        self.0.insert(fault, Rate { share, place: None });
    }

    /// The fault that an operation has this time, if any.
    pub fn roll(&self, random: &mut impl Rng, op: Op, place: Place) -> Option<Fault> {
        let mut left: f64 = random.random();
        let here = |rate: &Rate| rate.place.is_none_or(|only| only == place);
        for (fault, rate) in self.0.iter().filter(|(fault, rate)| fault.fits(op, place) && here(rate)) {
            if left < rate.share {
                return Some(*fault);
            }
            left -= rate.share;
        }
        None
    }
}

/// How often each fault has happened to each operation at each place.
#[derive(Debug, Clone, Default)]
pub struct Coverage(BTreeMap<(Op, Place, Fault), u64>);

impl Coverage {
    /// Counts one.
    pub fn count(&mut self, op: Op, place: Place, fault: Fault) {
        *self.0.entry((op, place, fault)).or_default() += 1;
    }

    /// Adds what another history counted.
    pub fn add(&mut self, other: &Self) {
        for (cell, count) in &other.0 {
            *self.0.entry(*cell).or_default() += count;
        }
    }

    /// The cells with their counts.
    pub fn cells(&self) -> impl Iterator<Item = (Op, Place, Fault, u64)> {
        self.0.iter().map(|((op, place, fault), count)| (*op, *place, *fault, *count))
    }

    /// How many faults happened for which this holds.
    pub fn total(&self, of: impl Fn(Fault) -> bool) -> u64 {
        self.0.iter().filter(|((_, _, fault), _)| of(*fault)).map(|(_, count)| count).sum()
    }
}
