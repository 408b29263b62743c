//! Decimal arithmetic with the precision and scale of one column; results are rounded half up like Java's BigDecimal.

use arrow_buffer::i256;

/// Arithmetic on unscaled values.
#[derive(Debug, Clone, Copy)]
pub(super) struct DecimalArithmetic {
    limit: i128,
    scale: u8,
}

impl DecimalArithmetic {
    pub(super) fn new(precision: u8, scale: u8) -> Self {
        Self { limit: 10i128.checked_pow(u32::from(precision)).unwrap_or(i128::MAX), scale }
    }

    /// The value if it has no more digits than the column.
    pub(super) fn fits(&self, value: i128) -> Option<i128> {
        (value > -self.limit && value < self.limit).then_some(value)
    }

    fn one(&self) -> i256 {
        (0..self.scale).fold(i256::ONE, |power, _| power.wrapping_mul(i256::from_i128(10)))
    }

    /// `a · b`.
    pub(super) fn product(&self, a: i128, b: i128) -> Option<i128> {
        let product = i256::from_i128(a).checked_mul(i256::from_i128(b))?;
        self.fits(round(product, self.one())?)
    }

    /// `a / b` if that has a finite decimal expansion.
    pub(super) fn quotient(&self, a: i128, b: i128) -> Option<i128> {
        if b == 0 {
            return None;
        }
        let mut rest = b.unsigned_abs() / gcd(a.unsigned_abs(), b.unsigned_abs());
        while rest.is_multiple_of(2) {
            rest /= 2;
        }
        while rest.is_multiple_of(5) {
            rest /= 5;
        }
        if rest != 1 {
            return None;
        }
        let dividend = i256::from_i128(a).checked_mul(self.one())?;
        self.fits(round(dividend, i256::from_i128(b))?)
    }
}

fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.max(1)
}

/// `a / b`, half away from zero.
fn round(a: i256, b: i256) -> Option<i128> {
    let quotient = a.checked_div(b)?;
    let rest = a.checked_rem(b)?;
    let double = rest.wrapping_abs().checked_mul(i256::from_i128(2))?;
    let away = if double >= b.wrapping_abs() {
        if a.is_negative() == b.is_negative() { i256::ONE } else { i256::MINUS_ONE }
    } else {
        i256::ZERO
    };
    quotient.checked_add(away)?.to_i128()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_half_up_and_refuses_what_does_not_fit() {
        let d = DecimalArithmetic::new(5, 2);
        assert_eq!(d.product(150, 150), Some(225));
        assert_eq!(d.product(-105, 150), Some(-158));
        assert_eq!(d.quotient(100, 800), Some(13));
        assert_eq!(d.quotient(100, 300), None);
        assert_eq!(d.quotient(100, 0), None);
        assert_eq!(d.product(99999, 200), None);
        assert_eq!(d.fits(99999), Some(99999));
        assert_eq!(d.fits(100_000), None);
    }
}
