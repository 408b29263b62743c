//! Whether a planted bug is caught: by a promise that it breaks, in a history that is clean without it.

use super::{Hazard, Setup};
use crate::sim::run::{Scale, run};
use crate::sim::violation::Violation;

/// What came of planting a bug.
#[derive(Debug)]
pub struct Trial {
    /// The bug.
    pub hazard: Hazard,
    /// The first seed whose history shows it, and how.
    pub caught: Option<(u64, Violation)>,
    /// What is broken in the histories up to that one without the bug, which must be nothing.
    pub unsound: Vec<Violation>,
}

impl Trial {
    /// Whether it was caught, and nothing else was.
    pub fn is_good(&self) -> bool {
        self.caught.is_some() && self.unsound.is_empty()
    }
}

/// Plants a bug in the histories of these seeds, one after the other, until one shows it.
pub fn trial(hazard: Hazard, seeds: std::ops::Range<u64>) -> Trial {
    let mut unsound = Vec::new();
    for seed in seeds {
        unsound.extend(run(seed, &Setup::sound(hazard), Scale::SMALL).violations);
        let violations = run(seed, &Setup::planted(hazard), Scale::SMALL).violations;
        let fits = violations.into_iter().find(|violation| hazard.breaks().contains(&violation.broken));
        if let Some(violation) = fits {
            return Trial { hazard, caught: Some((seed, violation)), unsound };
        }
    }
    Trial { hazard, caught: None, unsound }
}
