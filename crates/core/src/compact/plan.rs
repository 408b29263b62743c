//! How a choice is carried out: which files are rewritten together, and which only change their level
//! (spec: features.md B5, *Rewrite vs upgrade*).

use std::sync::Arc;

use linn_format::Result;
use linn_format::file::DataFileMeta;

use super::pick::Choice;
use crate::merge::{KeyOrder, Section, sections};

/// A step of a compaction.
#[derive(Debug, Clone)]
pub enum Step {
    /// The file moves to the output level as it is.
    Upgrade(Arc<DataFileMeta>),
    /// The sections are merged, one after the other, into new files.
    Rewrite(Vec<Section>),
}

impl Step {
    /// The files that it takes in.
    pub fn files(&self) -> impl Iterator<Item = &Arc<DataFileMeta>> {
        let (file, sections) = match self {
            Self::Upgrade(file) => (Some(file), None),
            Self::Rewrite(sections) => (None, Some(sections)),
        };
        file.into_iter().chain(sections.into_iter().flatten().flat_map(Section::files))
    }
}

/// What decides between the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Files from this size on are not rewritten for their size.
    pub small_file_size: i64,
    /// The highest level; a file with retractions cannot move there as it is.
    pub max_level: i32,
    /// When a file of level 0 may move up as it is.
    pub promotion: Promotion,
}

/// When a file of level 0 may move up without being rewritten.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Promotion {
    /// As any other file.
    #[default]
    Free,
    /// When it holds no retractions: with deletion vectors those go that nobody has to know.
    Clean,
    /// When it holds none and goes to the highest level; elsewhere the rows that it supersedes must be merged into it.
    CleanToHighest,
    /// When it goes to the highest level, for the same reason.
    ToHighest,
}

impl Promotion {
    fn allows(self, retracts: bool, to_the_top: bool) -> bool {
        match self {
            Self::Free => true,
            Self::Clean => !retracts,
            Self::CleanToHighest => !retracts && to_the_top,
            Self::ToHighest => to_the_top,
        }
    }
}

/// The steps of a choice, in key order. Files that already are where they belong appear in none, unless they
/// `must_rewrite`.
///
/// # Errors
/// `Corrupt` naming a file whose key range cannot be read.
pub fn plan(
    choice: &Choice,
    order: &KeyOrder,
    limits: Limits,
    must_rewrite: &dyn Fn(&DataFileMeta) -> bool,
) -> Result<Vec<Step>> {
    let output_level = choice.output_level;
    let mut planner = Planner { output_level, limits, must_rewrite, steps: Vec::new(), candidate: Vec::new() };
    for section in sections(&choice.files, order)? {
        if section.runs.len() > 1 {
            planner.candidate.push(section);
            continue;
        }
        for file in section.runs.into_iter().flatten() {
            if file.file_size < limits.small_file_size {
                planner.candidate.push(single(file));
            } else {
                // Nothing may be merged across a file that stays whole, or the output would not be sorted.
                planner.rewrite_candidate();
                planner.upgrade(file);
            }
        }
    }
    planner.rewrite_candidate();
    Ok(planner.steps)
}

fn single(file: Arc<DataFileMeta>) -> Section {
    Section { runs: vec![vec![file]] }
}

struct Planner<'a> {
    output_level: i32,
    limits: Limits,
    must_rewrite: &'a dyn Fn(&DataFileMeta) -> bool,
    steps: Vec<Step>,
    candidate: Vec<Section>,
}

impl Planner<'_> {
    fn rewrite_candidate(&mut self) {
        let candidate = std::mem::take(&mut self.candidate);
        match candidate.as_slice() {
            [] => {}
            [only] if only.runs.len() == 1 => {
                for file in only.files() {
                    self.upgrade(file.clone());
                }
            }
            _ => self.steps.push(Step::Rewrite(candidate)),
        }
    }

    fn upgrade(&mut self, file: Arc<DataFileMeta>) {
        // Files of old versions do not say whether they hold retractions.
        let retracts = file.delete_row_count.is_none_or(|rows| rows > 0);
        let to_the_top = self.output_level == self.limits.max_level;
        let stuck = file.level == 0 && !self.limits.promotion.allows(retracts, to_the_top);
        let forced = (self.must_rewrite)(&file);
        // What the highest level holds of retractions stays for a reason.
        let moves = file.level != self.output_level;
        if forced || stuck || (to_the_top && retracts && moves) {
            self.steps.push(Step::Rewrite(vec![single(file)]));
        } else if moves {
            self.steps.push(Step::Upgrade(file));
        }
    }
}
