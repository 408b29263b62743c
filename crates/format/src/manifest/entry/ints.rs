//! A column of numbers that takes few bytes where they are alike: most columns of a manifest hold one number, the others numbers
//! near each other.

/// Numbers in order. They are kept as distances from the first one, as wide as the widest.
#[derive(Debug)]
pub(super) enum Ints {
    /// A number, and how often.
    Same(i64, usize),
    /// A number, and distances from it.
    Bytes(i64, Vec<i8>),
    /// A number, and distances from it.
    Words(i64, Vec<i32>),
    /// Numbers as they are.
    All(Vec<i64>),
}

impl Default for Ints {
    fn default() -> Self {
        Self::Same(0, 0)
    }
}

impl Ints {
    /// Appends a number; `room` is how many numbers are expected in all.
    #[inline]
    pub(super) fn push(&mut self, value: i64, room: usize) {
        match self {
            Self::Same(first, count) if *first == value => *count += 1,
            Self::Bytes(first, distances) if near::<i8>(*first, value).is_some() => {
                distances.extend(near::<i8>(*first, value));
            }
            Self::Words(first, distances) if near::<i32>(*first, value).is_some() => {
                distances.extend(near::<i32>(*first, value));
            }
            Self::All(values) => values.push(value),
            _ => self.widen(value, room),
        }
    }

    /// Appends a number that takes more bytes than those before.
    #[cold]
    fn widen(&mut self, value: i64, room: usize) {
        *self = match std::mem::take(self) {
            Self::Same(_, 0) => Self::Same(value, 0),
            Self::Same(first, count) => Self::Bytes(first, widened(std::iter::repeat_n(0, count), room)),
            Self::Bytes(first, distances) => Self::Words(first, widened(distances.into_iter().map(i32::from), room)),
            Self::Words(first, distances) => {
                let values = distances.into_iter().map(|distance| first.wrapping_add(i64::from(distance)));
                Self::All(widened(values, room))
            }
            all @ Self::All(_) => all,
        };
        self.push(value, room);
    }

    /// The number at a place, which must be below [`len`](Self::len).
    #[inline]
    pub(super) fn get(&self, i: usize) -> i64 {
        match self {
            Self::Same(value, _) => *value,
            Self::Bytes(first, distances) => first.wrapping_add(i64::from(distances[i])),
            Self::Words(first, distances) => first.wrapping_add(i64::from(distances[i])),
            Self::All(values) => values[i],
        }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Same(_, count) => *count,
            Self::Bytes(_, distances) => distances.len(),
            Self::Words(_, distances) => distances.len(),
            Self::All(values) => values.len(),
        }
    }

    /// Bytes in memory.
    pub(super) fn memory_size(&self) -> usize {
        match self {
            Self::Same(..) => 0,
            Self::Bytes(_, distances) => distances.len(),
            Self::Words(_, distances) => distances.len() * 4,
            Self::All(values) => values.len() * 8,
        }
    }

    /// Makes room for so many numbers in all.
    pub(super) fn reserve(&mut self, room: usize) {
        match self {
            Self::Same(..) => {}
            Self::Bytes(_, distances) => distances.reserve_exact(room.saturating_sub(distances.len())),
            Self::Words(_, distances) => distances.reserve_exact(room.saturating_sub(distances.len())),
            Self::All(values) => values.reserve_exact(room.saturating_sub(values.len())),
        }
    }

    /// Gives back room for numbers that did not come.
    pub(super) fn shrink(&mut self) {
        match self {
            Self::Same(..) => {}
            Self::Bytes(_, distances) => distances.shrink_to_fit(),
            Self::Words(_, distances) => distances.shrink_to_fit(),
            Self::All(values) => values.shrink_to_fit(),
        }
    }
}

/// Numbers that have become wider, and room for those to come.
fn widened<T>(numbers: impl ExactSizeIterator<Item = T>, room: usize) -> Vec<T> {
    let mut wider = Vec::with_capacity(room.max(numbers.len()));
    wider.extend(numbers);
    wider
}

#[inline]
fn near<T: TryFrom<i64>>(first: i64, value: i64) -> Option<T> {
    T::try_from(value.checked_sub(first)?).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_come_out_as_they_went_in(
            values in prop::collection::vec(prop_oneof![4 => Just(7_i64), 2 => -200_i64..200, 1 => any::<i32>().prop_map(i64::from), 1 => any::<i64>()], 0..60),
            room in 0_usize..80
        ) {
            let mut ints = Ints::default();
            ints.reserve(room);
            values.iter().for_each(|value| ints.push(*value, room));
            ints.shrink();
            prop_assert_eq!(ints.len(), values.len());
            let read: Vec<i64> = (0..ints.len()).map(|i| ints.get(i)).collect();
            prop_assert_eq!(read, values);
        }
    }

    #[test]
    fn alike_numbers_take_few_bytes() {
        let of = |values: &[i64]| {
            let mut ints = Ints::default();
            values.iter().for_each(|value| ints.push(*value, 0));
            ints.memory_size()
        };
        assert_eq!(of(&[5; 1000]), 0);
        assert_eq!(of(&[1_000_000, 1_000_001, 1_000_100]), 3);
        assert_eq!(of(&[1_700_000_000_000, 1_700_001_000_000]), 8);
        assert_eq!(of(&[i64::MIN, i64::MAX]), 16);
    }
}
