//! The option that somebody may have meant.

use super::{OPTIONS, option};
use crate::suggest::within;

/// The key that is spelt most like one that is no option; none for options, and when nothing is close.
///
/// Other keys are kept in schemas as they are, since engines and stores have their own; so this is a hint, not a rule.
pub fn similar_option(key: &str) -> Option<&'static str> {
    if option(key).is_some() {
        return None;
    }
    within(key, OPTIONS.iter().map(|def| def.key), (key.chars().count() / 4).min(3))
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
}
