//! Numbers from their text: the digits decide. What a type cannot hold exactly is no value of it, and no two numbers become
//! one; only fractions may be rounded to the nearest float.

/// Digits that an [`Exact`] holds.
const DIGITS: u32 = 38;

/// A decimal number: digits without zeros at their end, and a power of ten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exact {
    negative: bool,
    digits: u128,
    exponent: i64,
    /// Whether the text has more digits than can be held; `digits` are then the first ones.
    is_long: bool,
}

impl Exact {
    /// Reads `[+-]digits[.digits][e[+-]digits]`; `None` for anything else.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, power(exponent)?),
            None => (text, 0),
        };
        let unsigned = mantissa.strip_prefix(['-', '+']).unwrap_or(mantissa);
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() && fraction.is_empty() || !all_digits(whole) || !all_digits(fraction) {
            return None;
        }
        let mut exact = Self { negative: mantissa.starts_with('-'), digits: 0, exponent: 0, is_long: false };
        let mut zeros = 0_u32;
        for digit in whole.bytes().chain(fraction.bytes()).map(|byte| u128::from(byte.wrapping_sub(b'0'))) {
            if digit == 0 && exact.digits > 0 {
                zeros = zeros.saturating_add(1);
            } else if digit > 0 && !exact.push(zeros, digit) {
                exact.is_long = true;
                break;
            } else if digit > 0 {
                zeros = 0;
            }
        }
        let behind = i64::try_from(fraction.len()).ok()?;
        exact.exponent =
            if exact.digits == 0 { 0 } else { exponent.saturating_sub(behind).saturating_add(zeros.into()) };
        Some(exact)
    }

    /// Appends zeros and a digit, if there is room.
    fn push(&mut self, zeros: u32, digit: u128) -> bool {
        let longer = 10_u128.checked_pow(zeros.saturating_add(1)).and_then(|power| self.digits.checked_mul(power));
        match longer.map(|digits| digits + digit).filter(|digits| *digits < 10_u128.pow(DIGITS)) {
            Some(digits) => {
                self.digits = digits;
                true
            }
            None => false,
        }
    }

    /// Digits before and behind the point; `None` when there are more than can be held.
    pub(crate) fn shape(&self) -> Option<(u32, u32)> {
        if self.is_long || self.exponent.abs() > 1_000 {
            return None;
        }
        let length = i64::from(self.digits.checked_ilog10().map_or(0, |log| log + 1));
        let whole = u32::try_from((length + self.exponent).max(0)).ok()?;
        Some((whole, u32::try_from((-self.exponent).max(0)).ok()?))
    }

    /// The number times `10^scale`, if that is whole and has at most 38 digits.
    pub(crate) fn scaled(&self, scale: u8) -> Option<i128> {
        if self.digits == 0 {
            return Some(0);
        }
        let shift = u32::try_from(self.exponent.checked_add(scale.into())?).ok()?;
        let digits =
            self.digits.checked_mul(10_u128.checked_pow(shift)?).filter(|digits| *digits < 10_u128.pow(DIGITS));
        let digits = i128::try_from(digits.filter(|_| !self.is_long)?).ok()?;
        Some(if self.negative { -digits } else { digits })
    }
}

/// An exponent; one beyond all numbers counts as such.
fn power(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(text.parse().unwrap_or(if text.starts_with('-') { i64::MIN / 4 } else { i64::MAX / 4 }))
}

/// A whole number.
pub(crate) fn integer(text: &str) -> Option<i64> {
    text.parse().ok().or_else(|| i64::try_from(Exact::parse(text)?.scaled(0)?).ok())
}

/// The unscaled value of a decimal that needs no rounding.
pub(crate) fn decimal(text: &str, precision: u8, scale: u8) -> Option<i128> {
    let unscaled = Exact::parse(text)?.scaled(scale)?;
    (unscaled.unsigned_abs() < 10_u128.checked_pow(precision.into())?).then_some(unscaled)
}

/// A double: the nearest to a fraction, a whole number exactly as it is written; also `NaN`, `Infinity` and `inf`.
pub(crate) fn double(text: &str) -> Option<f64> {
    let value: f64 = text.parse().ok()?;
    let fits = !value.is_infinite() || !has_digits(text);
    (fits && (is_short(text, 15) || !is_whole(text) || prints_as(value, text))).then_some(value)
}

/// A float: as [`double`].
pub(crate) fn float(text: &str) -> Option<f32> {
    let value: f32 = text.parse().ok()?;
    let fits = !value.is_infinite() || !has_digits(text);
    (fits && (is_short(text, 6) || !is_whole(text) || prints_as(value, text))).then_some(value)
}

/// Whether a double shows the number with all the digits that the text has.
pub(crate) fn is_double(text: &str) -> bool {
    let Some(value) = text.parse::<f64>().ok().filter(|value| value.is_finite()) else { return false };
    let Some(exact) = Exact::parse(text).filter(|exact| !exact.is_long) else { return false };
    if exact.digits == 0 || prints_as(value, text) {
        return true;
    }
    let digits = exact.digits.ilog10() as usize;
    // Seventeen digits tell any two doubles apart.
    !is_whole(text) && digits < 17 && Exact::parse(&format!("{value:.digits$e}")) == Some(exact)
}

fn has_digits(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
}

fn is_short(text: &str, digits: usize) -> bool {
    text.len() <= digits
}

/// Whether the text is digits alone.
pub(crate) fn is_whole(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a float shows the number that the text has.
fn prints_as(value: impl std::fmt::LowerExp, text: &str) -> bool {
    Exact::parse(&format!("{value:e}")) == Exact::parse(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_exact_or_none() {
        assert_eq!((integer("9223372036854775807"), integer("9223372036854775808")), (Some(i64::MAX), None));
        assert_eq!((integer("1.0"), integer("12e2"), integer("1.5")), (Some(1), Some(1200), None));
        assert_eq!((integer("-0"), integer("1e99999999999999999999"), integer("")), (Some(0), None, None));
        assert_eq!((double("9007199254740992"), double("9007199254740993")), (Some(9_007_199_254_740_992.0), None));
        assert_eq!((float("16777216"), float("16777217")), (Some(16_777_216.0), None));
    }

    #[test]
    fn decimals_are_not_rounded() {
        assert_eq!((decimal("9.10", 4, 2), decimal("9.101", 4, 2), decimal("123.00", 4, 2)), (Some(910), None, None));
        let most = "99999999999999999999999999999999999999";
        assert_eq!(decimal(most, 38, 0), Some(10_i128.pow(38) - 1));
        assert_eq!(decimal("-0.00000000000000000000000000000000000001", 38, 38), Some(-1));
        assert_eq!((decimal(&format!("{most}1"), 38, 0), decimal("1e37", 38, 0)), (None, Some(10_i128.pow(37))));
    }

    #[test]
    fn floats_are_the_nearest() {
        assert_eq!((double("0.1"), double("1e400"), double("-Infinity")), (Some(0.1), None, Some(f64::NEG_INFINITY)));
        assert!(double("NaN").unwrap().is_nan() && float("nan").unwrap().is_nan());
        assert_eq!((float("1e39"), float("0.1")), (None, Some(0.1)));
        assert!(is_double("0.1") && is_double("40.712775999999998") && is_double("1e300") && is_double("100"));
        assert!(!is_double("0.12345678901234567891") && !is_double("9007199254740993"));
    }

    #[test]
    fn shapes_count_digits() {
        let shape = |text: &str| Exact::parse(text).unwrap().shape();
        assert_eq!((shape("12.50"), shape("0.001"), shape("1200")), (Some((2, 1)), Some((0, 3)), Some((4, 0))));
        assert_eq!((shape("0"), shape("1e400")), (Some((0, 0)), Some((401, 0))));
    }
}
