//! The memory that write buffers share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A budget in bytes that any number of writers of any tables can share. Buffers register what they hold; when the sum
/// exceeds the limit, the writer that notices empties its largest buffer.
#[derive(Debug, Clone)]
pub struct MemoryBudget {
    limit: u64,
    used: Arc<AtomicU64>,
}

impl MemoryBudget {
    /// A budget of `limit` bytes.
    pub fn new(limit: u64) -> Self {
        Self { limit, used: Arc::new(AtomicU64::new(0)) }
    }

    /// Bytes held now.
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// Bytes that may be held.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Whether more is held than should be.
    pub fn is_exceeded(&self) -> bool {
        self.used() > self.limit
    }

    /// Nothing of it yet.
    pub(crate) fn share(&self) -> Share {
        Share { budget: self.clone(), bytes: 0 }
    }
}

/// What one buffer holds of a budget; given back when dropped.
#[derive(Debug)]
pub(crate) struct Share {
    budget: MemoryBudget,
    bytes: u64,
}

impl Share {
    /// Holds more.
    pub(crate) fn grow(&mut self, bytes: u64) {
        self.bytes += bytes;
        self.budget.used.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Hands what is held over, and holds nothing.
    pub(crate) fn take(&mut self) -> Self {
        Self { budget: self.budget.clone(), bytes: std::mem::take(&mut self.bytes) }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.budget.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_given_back() {
        let budget = MemoryBudget::new(10);
        let (mut a, mut b) = (budget.share(), budget.share());
        a.grow(6);
        b.grow(5);
        assert!(budget.is_exceeded());
        let taken = a.take();
        assert_eq!((a.bytes(), taken.bytes(), budget.used()), (0, 6, 11));
        drop(taken);
        assert_eq!(budget.used(), 5);
        drop((a, b));
        assert_eq!(budget.used(), 0);
    }
}
