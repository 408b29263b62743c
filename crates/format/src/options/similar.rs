//! The option that somebody may have meant.

use super::{OPTIONS, option};

/// The key that is spelt most like one that is no option; none for options, and when nothing is close.
///
/// Other keys are kept in schemas as they are, since engines and stores have their own; so this is a hint, not a rule.
pub fn similar_option(key: &str) -> Option<&'static str> {
    if option(key).is_some() {
        return None;
    }
    let most = (key.chars().count() / 4).min(3);
    let near = OPTIONS.iter().map(|def| (distance(key, def.key), def.key)).filter(|(distance, _)| *distance <= most);
    near.min().map(|(_, key)| key)
}

/// How many letters are to be put in, left out, replaced, or swapped with their neighbour.
fn distance(from: &str, to: &str) -> usize {
    let (from, to): (Vec<char>, Vec<char>) = (from.chars().collect(), to.chars().collect());
    // Rows of the table of distances between beginnings; the last two are kept.
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in to.iter().enumerate() {
            let replaced = last[j] + usize::from(a != b);
            let mut least = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && from[i - 1] == *b && to[j - 1] == *a {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_near_and_other_words_are_not() {
        assert_eq!(similar_option("bukcet"), Some("bucket"));
        assert_eq!(similar_option("merge-enigne"), Some("merge-engine"));
        assert_eq!(similar_option("sequence-field"), Some("sequence.field"));
        for key in ["bucket", "fields.v.aggregate-function", "s3.endpoint", "x", "owner"] {
            assert_eq!(similar_option(key), None, "{key}");
        }
    }

    #[test]
    fn distances() {
        for (from, to, expected) in [("", "abc", 3), ("abc", "abc", 0), ("abcd", "acbd", 1), ("kitten", "sitting", 3)] {
            assert_eq!(distance(from, to), expected, "{from} {to}");
        }
    }
}
