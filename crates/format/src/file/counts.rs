//! What a reader of files counts while it reads.

use std::sync::atomic::{AtomicU64, Ordering};

/// Parts of files that were read, and those that a filter left out by their statistics.
#[derive(Debug, Default)]
pub struct PartCounts {
    read: AtomicU64,
    pruned: AtomicU64,
}

impl PartCounts {
    /// Notes how many of all parts of a file are read.
    pub fn note(&self, read: usize, all: usize) {
        self.read.fetch_add(read as u64, Ordering::Relaxed);
        self.pruned.fetch_add(all.saturating_sub(read) as u64, Ordering::Relaxed);
    }

    /// Parts that are read.
    pub fn read(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }

    /// Parts that are left out.
    pub fn pruned(&self) -> u64 {
        self.pruned.load(Ordering::Relaxed)
    }
}
