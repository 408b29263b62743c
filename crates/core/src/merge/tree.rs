//! A tournament tree of losers: finds the least of a few runs with one comparison per level.
//!
//! The tree knows nothing of what it compares; `less(a, b)` is a strict total order of run numbers.

/// Losers at the inner nodes, the winner at node 0.
#[derive(Debug)]
pub(crate) struct LoserTree {
    nodes: Vec<usize>,
}

const EMPTY: usize = usize::MAX;

impl LoserTree {
    /// A tree of `runs` runs (at least one).
    pub(crate) fn new(runs: usize, less: impl Fn(usize, usize) -> bool) -> Self {
        let mut nodes = vec![EMPTY; runs.max(1)];
        for run in 0..runs {
            let mut winner = run;
            let mut node = (run + runs) / 2;
            loop {
                if node == 0 {
                    nodes[0] = winner;
                    break;
                }
                if nodes[node] == EMPTY {
                    nodes[node] = winner;
                    break;
                }
                if less(nodes[node], winner) {
                    std::mem::swap(&mut nodes[node], &mut winner);
                }
                node /= 2;
            }
        }
        Self { nodes }
    }

    /// The least run.
    #[inline]
    pub(crate) fn winner(&self) -> usize {
        self.nodes[0]
    }

    /// Restores the order after the winner's value has changed.
    #[inline]
    pub(crate) fn replay(&mut self, less: impl Fn(usize, usize) -> bool) {
        let mut winner = self.nodes[0];
        let mut node = (winner + self.nodes.len()) / 2;
        while node > 0 {
            if less(self.nodes[node], winner) {
                std::mem::swap(&mut self.nodes[node], &mut winner);
            }
            node /= 2;
        }
        self.nodes[0] = winner;
    }

    /// The second least run: it lost against the winner, so it lies on the winner's path.
    #[inline]
    pub(crate) fn challenger(&self, less: impl Fn(usize, usize) -> bool) -> Option<usize> {
        let mut node = (self.nodes[0] + self.nodes.len()) / 2;
        let mut best: Option<usize> = None;
        while node > 0 {
            let loser = self.nodes[node];
            if best.is_none_or(|b| less(loser, b)) {
                best = Some(loser);
            }
            node /= 2;
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn merges_like_a_sort(mut runs in prop::collection::vec(prop::collection::vec(0u32..50, 0..12), 1..9)) {
            for run in &mut runs {
                run.sort_unstable();
            }
            let mut expected: Vec<u32> = runs.concat();
            expected.sort_unstable();
            let mut at = vec![0usize; runs.len()];
            let head = |at: &[usize], r: usize| (at[r] >= runs[r].len(), runs[r].get(at[r]).copied(), r);
            let mut tree = LoserTree::new(runs.len(), |a, b| head(&at, a) < head(&at, b));
            let mut merged = Vec::new();
            loop {
                let winner = tree.winner();
                let Some(&value) = runs[winner].get(at[winner]) else { break };
                let second = (0..runs.len()).filter(|&r| r != winner).min_by_key(|&r| head(&at, r));
                prop_assert_eq!(tree.challenger(|a, b| head(&at, a) < head(&at, b)), second);
                merged.push(value);
                at[winner] += 1;
                tree.replay(|a, b| head(&at, a) < head(&at, b));
            }
            prop_assert_eq!(merged, expected);
        }
    }
}
