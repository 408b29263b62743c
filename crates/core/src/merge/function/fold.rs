//! The steps by which the values of keys are folded, of many keys one after the other.

use crate::merge::source::Pick;

/// A step of a fold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fold {
    /// A value arrives in order.
    Add(Pick),
    /// A value arrives that belongs before those seen so far.
    AddLate(Pick),
    /// A value is taken back.
    Retract(Pick),
}

/// The steps of many keys.
#[derive(Debug, Default)]
pub(crate) struct Folds {
    steps: Vec<Fold>,
    /// Where the steps of each key end.
    ends: Vec<usize>,
    /// How many are no additions.
    others: usize,
}

impl Folds {
    /// Appends a step of the key that is open.
    #[inline]
    pub(crate) fn push(&mut self, step: Fold) {
        self.others += usize::from(!matches!(step, Fold::Add(_)));
        self.steps.push(step);
    }

    /// Ends the open key; its number.
    #[inline]
    pub(crate) fn close(&mut self) -> u32 {
        self.ends.push(self.steps.len());
        self.ends.len() as u32 - 1
    }

    /// Forgets the steps of the open key.
    #[inline]
    pub(crate) fn reopen(&mut self) {
        let start = self.ends.last().copied().unwrap_or(0);
        let dropped = self.steps.get(start..).unwrap_or_default();
        self.others -= dropped.iter().filter(|step| !matches!(step, Fold::Add(_))).count();
        self.steps.truncate(start);
    }

    /// Makes additions of what the open key takes back.
    pub(crate) fn give_back(&mut self) {
        let start = self.ends.last().copied().unwrap_or(0);
        for step in self.steps.iter_mut().skip(start) {
            if let Fold::Retract(pick) = *step {
                *step = Fold::Add(pick);
                self.others -= 1;
            }
        }
    }

    /// Of what the open key takes back only the last, as an addition.
    pub(crate) fn give_last_back(&mut self) {
        let start = self.ends.last().copied().unwrap_or(0);
        let last = self.steps.last().filter(|_| self.steps.len() > start).copied();
        self.reopen();
        if let Some(step) = last {
            self.push(Fold::Add(step.pick()));
        }
    }

    /// Keys.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether all steps are [`Fold::Add`].
    pub(crate) fn adds_only(&self) -> bool {
        self.others == 0
    }

    /// The steps of each key.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[Fold]> {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let steps = &self.steps[start..end];
            start = end;
            steps
        })
    }

    /// Starts over.
    pub(crate) fn clear(&mut self) {
        self.steps.clear();
        self.ends.clear();
        self.others = 0;
    }
}

impl Fold {
    /// The row that it is about.
    #[inline]
    pub(crate) fn pick(self) -> Pick {
        match self {
            Self::Add(pick) | Self::AddLate(pick) | Self::Retract(pick) => pick,
        }
    }
}
