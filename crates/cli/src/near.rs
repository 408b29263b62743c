//! Names that are like one that does not exist.

/// The candidate nearest to a word, when it is near enough to be meant.
pub(crate) fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let most = (word.chars().count() / 3).clamp(1, 3);
    let near = candidates.into_iter().map(|known| (distance(word, known), known));
    near.filter(|(far, _)| (1..=most).contains(far)).min().map(|(_, known)| known)
}

/// How many letters are to be put in, left out, replaced or swapped with their neighbour; case does not count.
fn distance(from: &str, to: &str) -> usize {
    let (from, to): (Vec<char>, Vec<char>) =
        (from.to_lowercase().chars().collect(), to.to_lowercase().chars().collect());
    let (mut before, mut last): (Vec<usize>, Vec<usize>) = (Vec::new(), (0..=to.len()).collect());
    for (i, a) in from.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in to.iter().enumerate() {
            let cell = |row: &[usize], at: usize| row.get(at).copied().unwrap_or(usize::MAX / 2);
            let mut least = cell(&last, j) + usize::from(a != b);
            least = least.min(cell(&last, j + 1) + 1).min(cell(&row, j) + 1);
            let swapped = i > 0 && j > 0 && from.get(i - 1) == Some(b) && to.get(j - 1) == Some(a);
            if swapped {
                least = least.min(cell(&before, j - 1) + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    let far = last.last().copied().unwrap_or_default();
    // The same letters in another case are near, but not the same name.
    far.max(usize::from(from == to && far == 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_near_and_other_names_are_not() {
        let known = ["orders", "customers", "events"];
        assert_eq!(nearest("ordres", known), Some("orders"));
        assert_eq!(nearest("ORDERS", known), Some("orders"));
        assert_eq!(nearest("customer", known), Some("customers"));
        assert_eq!(nearest("payments", known), None);
        assert_eq!(nearest("x", known), None);
    }
}
