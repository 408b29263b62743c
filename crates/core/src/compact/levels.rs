//! The files of one bucket by level: level 0 one sorted run per file, each level above one run (spec: features.md B5).

use std::cmp::Ordering;
use std::sync::Arc;

use linn_format::file::DataFileMeta;

/// A sorted run: a file of level 0, or all files of a level above.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// Level of the files.
    pub level: i32,
    /// Its files; at least one.
    pub files: Vec<Arc<DataFileMeta>>,
}

impl Run {
    /// Bytes of all files.
    pub fn size(&self) -> i64 {
        self.files.iter().map(|f| f.file_size).sum()
    }
}

/// The live files of one bucket.
#[derive(Debug, Clone)]
pub struct Levels {
    num_levels: usize,
    files: Vec<Arc<DataFileMeta>>,
}

impl Levels {
    /// The levels of these files; there are at least `num_levels`, more when a file lies higher.
    pub fn new(files: Vec<Arc<DataFileMeta>>, num_levels: usize) -> Self {
        let highest = files.iter().map(|f| usize::try_from(f.level).unwrap_or(0)).max().unwrap_or(0);
        Self { num_levels: num_levels.max(highest + 1).max(2), files }
    }

    /// Number of levels, level 0 included.
    pub fn num_levels(&self) -> usize {
        self.num_levels
    }

    /// The highest level.
    pub fn max_level(&self) -> i32 {
        i32::try_from(self.num_levels - 1).unwrap_or(i32::MAX)
    }

    /// All files.
    pub fn files(&self) -> &[Arc<DataFileMeta>] {
        &self.files
    }

    /// Files of level 0.
    pub fn level0(&self) -> impl Iterator<Item = &Arc<DataFileMeta>> {
        self.files.iter().filter(|f| f.level == 0)
    }

    /// The highest level with files; −1 when there are none.
    pub fn highest_used(&self) -> i32 {
        self.files.iter().map(|f| f.level).max().unwrap_or(-1)
    }

    /// The sorted runs: level 0 newest first, then the levels upwards.
    pub fn runs(&self) -> Vec<Run> {
        let mut level0: Vec<Arc<DataFileMeta>> = self.level0().cloned().collect();
        level0.sort_by(|a, b| newest_first(a, b));
        let mut runs: Vec<Run> = level0.into_iter().map(|f| Run { level: 0, files: vec![f] }).collect();
        for level in 1..=self.max_level() {
            let files: Vec<_> = self.files.iter().filter(|f| f.level == level).cloned().collect();
            if !files.is_empty() {
                runs.push(Run { level, files });
            }
        }
        runs
    }

    /// How many sorted runs there are.
    pub fn run_count(&self) -> usize {
        let mut levels: Vec<i32> = self.files.iter().map(|f| f.level).filter(|l| *l > 0).collect();
        levels.sort_unstable();
        levels.dedup();
        levels.len() + self.level0().count()
    }

    /// Takes files out and others in.
    pub fn update(&mut self, before: &[Arc<DataFileMeta>], after: &[Arc<DataFileMeta>]) {
        self.files.retain(|f| !before.iter().any(|b| b.file_name == f.file_name && b.level == f.level));
        self.files.extend_from_slice(after);
    }
}

/// Greater sequence numbers first; ties as the reference has them, so that picks agree.
fn newest_first(a: &DataFileMeta, b: &DataFileMeta) -> Ordering {
    b.max_sequence_number
        .cmp(&a.max_sequence_number)
        .then_with(|| a.min_sequence_number.cmp(&b.min_sequence_number))
        .then_with(|| a.creation_time.cmp(&b.creation_time))
        .then_with(|| a.file_name.cmp(&b.file_name))
}
