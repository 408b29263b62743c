//! What somebody may have meant by a name that there is not.

/// The candidate nearest to a word, the first of several that are as near; `None` when none is near. Case does not count, and a
/// candidate that is the word itself is none.
#[must_use]
pub fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let most = (word.chars().count() / 3).clamp(1, 3);
    within(word, candidates, most)
}

/// The candidate nearest to a word, at most `most` letters put in, left out, replaced, or swapped with their neighbour away.
pub(crate) fn within<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>, most: usize) -> Option<&'c str> {
    let small = word.to_lowercase();
    let length = small.chars().count();
    let distance = |candidate: &str| {
        let candidate = candidate.to_lowercase();
        (candidate.chars().count().abs_diff(length) <= most).then(|| strsim::osa_distance(&small, &candidate))
    };
    let near = candidates.into_iter().filter(|candidate| *candidate != word);
    let near = near.filter_map(|candidate| Some((distance(candidate)?, candidate)));
    near.filter(|(distance, candidate)| {
        // Of two letters one in common is no likeness.
        *distance <= most && *distance < length.max(candidate.chars().count()).div_ceil(2).max(1)
    })
    .min()
    .map(|(_, candidate)| candidate)
}

/// A hint that asks for the nearest candidate, such as `did you mean "orders"?`.
#[must_use]
pub fn did_you_mean<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<String> {
    nearest(word, candidates).map(|found| format!("did you mean {found}?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_near() {
        let names = ["orders", "customers", "id", "Amount", "ab"];
        for (word, expected) in [
            ("order", Some("orders")),
            ("ordesr", Some("orders")),
            ("custumer", Some("customers")),
            ("amount", Some("Amount")),
            ("ORDERS", Some("orders")),
            ("ids", Some("id")),
            ("orders", None),
            ("nothing", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, names), expected, "{word}");
        }
    }
}
