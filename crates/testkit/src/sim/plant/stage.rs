//! Where a planted bug shows: the kind of table, the faults, the actors and the pace of the histories that are about it. Without
//! the bug the same histories keep every promise.

use std::collections::BTreeSet;

use super::Hazard;
use crate::sim::fault::{Fault, Place, Rates};
use crate::sim::shape::{Engine, Producer, Shape};
use crate::sim::violation::Broken;

/// What a history is about.
#[derive(Debug, Clone, Default)]
pub struct Setup {
    /// The hazards that it is made for.
    pub stage: BTreeSet<Hazard>,
    /// The bugs that are planted.
    pub plants: BTreeSet<Hazard>,
}

impl Setup {
    /// A history made for a bug, with it.
    pub fn planted(hazard: Hazard) -> Self {
        Self { stage: BTreeSet::from([hazard]), plants: BTreeSet::from([hazard]) }
    }

    /// A history made for a bug, without it.
    pub fn sound(hazard: Hazard) -> Self {
        Self { stage: BTreeSet::from([hazard]), plants: BTreeSet::new() }
    }

    /// Whether the history is made for one of these.
    pub fn is_about(&self, hazards: &[Hazard]) -> bool {
        hazards.iter().any(|hazard| self.stage.contains(hazard))
    }

    /// How the actors and the store behave.
    pub fn knobs(&self) -> Knobs {
        let mut knobs = Knobs::default();
        if self.is_about(&[Hazard::H2, Hazard::H3]) {
            knobs.outages = (1, 5_000);
        }
        if self.is_about(&[Hazard::H4, Hazard::H5]) {
            (knobs.latency, knobs.writers_rest, knobs.others_rest) = (Some(40), Some(50), Some(50));
        }
        if self.is_about(&[Hazard::H6]) {
            (knobs.latency, knobs.writers_rest, knobs.others_rest) = (Some(5), Some(8_000), Some(3_000));
            // Files are old after a few seconds.
            knobs.skews = false;
        }
        // Maintenance and who looks at what it does come often, compared with commits.
        if self.is_about(&[Hazard::H7, Hazard::H8, Hazard::H9, Hazard::H11, Hazard::H16]) {
            (knobs.writers_rest, knobs.others_rest) = (Some(4_000), Some(2_000));
        }
        if self.is_about(&[Hazard::H7, Hazard::H11]) {
            knobs.others_rest = Some(700);
        }
        if self.is_about(&[Hazard::H8, Hazard::H9]) {
            knobs.expirer_dies = Some(0.02);
        }
        // It must come to the end of an expiry too.
        if self.is_about(&[Hazard::H7]) {
            knobs.expirer_dies = Some(0.003);
        }
        if self.is_about(&[Hazard::H17]) {
            (knobs.writers_rest, knobs.pause_millis) = (Some(2_000), 500);
        }
        if self.is_about(&[Hazard::H18]) {
            knobs.cuts = 10;
        }
        // A big one first, beside which later ones stay on a level of their own.
        if self.is_about(&[Hazard::H11]) {
            (knobs.big_commits, knobs.full_compactions) = (1, 50);
        }
        // More than the buffer holds.
        if self.is_about(&[Hazard::H20]) {
            knobs.big_commits = i64::MAX;
        }
        knobs
    }

    /// The kind of table, where not every kind will do.
    pub fn shape(&self, drawn: Shape) -> Shape {
        self.stage.iter().fold(drawn, |shape, hazard| hazard.shape(shape, self.plants.contains(hazard)))
    }

    /// Faults without which the bugs do not show, and without those that hide them.
    pub fn favour(&self, rates: &mut Rates) {
        for hazard in &self.stage {
            hazard.favour(rates);
        }
    }
}

/// How the actors and the store behave.
#[derive(Debug, Clone, Copy)]
pub struct Knobs {
    /// One ambiguous fault in so many begins a time in which nothing is reached, and the least milliseconds of it.
    pub outages: (u32, i64),
    /// Most milliseconds that an answer takes; drawn for each process where not said.
    pub latency: Option<u64>,
    /// Most milliseconds that a writer rests between two commits, if not as always.
    pub writers_rest: Option<u64>,
    /// Most milliseconds that all others rest, if not as always.
    pub others_rest: Option<u64>,
    /// The least time that a process stands still, milliseconds; thirty times as long at the most.
    pub pause_millis: u64,
    /// One in so many compactions is a full one.
    pub full_compactions: u32,
    /// How many of its operations are an expirer's last, if not as drawn.
    pub expirer_dies: Option<f64>,
    /// Whether clocks may be off.
    pub skews: bool,
    /// In how many of 200 looks around the power is cut, where it is at all.
    pub cuts: u32,
    /// How many commits of each writer are big ones, beside those that are anyway.
    pub big_commits: i64,
}

impl Default for Knobs {
    fn default() -> Self {
        Self {
            outages: (6, 100),
            latency: None,
            writers_rest: None,
            others_rest: None,
            pause_millis: 60_000,
            full_compactions: 3,
            expirer_dies: None,
            skews: true,
            cuts: 1,
            big_commits: 0,
        }
    }
}

impl Hazard {
    /// The kind of table on which this bug shows, where not every kind will do.
    fn shape(self, drawn: Shape, planted: bool) -> Shape {
        let last = || Shape::of(Engine::Last);
        match self {
            Self::H1 | Self::H2 | Self::H3 | Self::H4 | Self::H5 | Self::H18 => {
                let engine = if drawn.engine == Engine::Append { Engine::Append } else { Engine::Last };
                Shape::of(engine)
            }
            Self::H6 | Self::H7 | Self::H8 | Self::H9 | Self::H16 => {
                last().with("num-sorted-run.compaction-trigger", "2")
            }
            Self::H10 => last().with_vectors().with_producer(Producer::Lookup),
            // Without rows taken back: a file that holds such is merged, whatever the options say. Sizes that go by rows, so that
            // a big file stays on its level.
            Self::H11 => Shape::of(Engine::BySequence)
                .with("write-only", "true")
                .with("file.format", "avro")
                .with("file.compression", "none")
                .with("num-sorted-run.compaction-trigger", "2"),
            // The order of commits is what keeps two writers of a bucket apart.
            Self::H12 if planted => Shape { shared: true, ..last().with("write-only", "true") },
            Self::H12 => {
                let ordered = last().with("write-only", "true").with("sequence.snapshot-ordering", "true");
                Shape { shared: true, ..ordered }
            }
            Self::H13 => last(),
            Self::H14 => Shape::of(Engine::BySequence).with_vectors(),
            Self::H15 => Shape { buckets: 2, shared: true, ..Shape::of(Engine::Append).with_vectors() },
            Self::H17 => Shape::of(Engine::Append),
            Self::H19 => last().with("file.format", "avro").with("file.compression", "none"),
            Self::H20 => last().with("write-buffer-size", "4 kb").with("write-buffer-spillable", "true"),
        }
    }

    fn favour(self, rates: &mut Rates) {
        match self {
            Self::H1 | Self::H2 | Self::H3 => *rates = Rates::only(Fault::After, Place::Snapshot, 0.3),
            // The maintainer dies now and then, and nothing else happens.
            Self::H6 | Self::H7 | Self::H8 | Self::H9 | Self::H16 => *rates = Rates::default(),
            Self::H4 | Self::H5 | Self::H19 => *rates = Rates::default(),
            Self::H17 => rates.set(Fault::Pause, 0.02),
            _ => {}
        }
    }

    /// Which promises it breaks.
    pub fn breaks(self) -> &'static [Broken] {
        match self {
            Self::H1 | Self::H5 => &[Broken::Lost],
            Self::H2 | Self::H17 => &[Broken::Doubled],
            Self::H3 | Self::H6 | Self::H7 | Self::H16 => &[Broken::Dangling],
            Self::H4 => &[Broken::Failure],
            Self::H8 => &[Broken::Leak],
            Self::H9 | Self::H20 => &[Broken::Stuck],
            Self::H10 => &[Broken::Changelog],
            Self::H11 | Self::H12 | Self::H13 | Self::H14 | Self::H15 => &[Broken::Rows],
            Self::H18 => &[Broken::Lost, Broken::Dangling],
            Self::H19 => &[Broken::Rows, Broken::Damage],
        }
    }
}
