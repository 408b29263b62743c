//! Columns that are made one after the other or side by side: which of the two changes the time it takes, never what comes out.

use rayon::prelude::*;

/// How the columns of merged rows are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Columns {
    /// On the thread that merges: for whoever shares the cores with a writer.
    #[default]
    InTurn,
    /// On all cores.
    Beside,
}

impl Columns {
    /// What `make` says of each item, in their order. Of errors that of the first item in this order is told.
    pub(crate) fn map<I, T, E>(
        self,
        items: I,
        make: impl Fn(I::Item) -> Result<T, E> + Send + Sync,
    ) -> Result<Vec<T>, E>
    where
        I: IntoIterator<Item: Send>,
        T: Send,
        E: Send,
    {
        self.map_with(items, || (), |(), item| make(item))
    }

    /// As [`Columns::map`], with something that `make` may use again for the items that follow.
    pub(crate) fn map_with<I, S, T, E>(
        self,
        items: I,
        start: impl Fn() -> S + Send + Sync,
        make: impl Fn(&mut S, I::Item) -> Result<T, E> + Send + Sync,
    ) -> Result<Vec<T>, E>
    where
        I: IntoIterator<Item: Send>,
        T: Send,
        E: Send,
    {
        let items = items.into_iter();
        if self == Self::InTurn {
            let mut kept = start();
            return items.map(|item| make(&mut kept, item)).collect();
        }
        let items: Vec<I::Item> = items.collect();
        // One at a time: columns differ in what they cost.
        let made: Vec<Result<T, E>> = items.into_par_iter().with_max_len(1).map_init(start, make).collect();
        made.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_and_errors_come_in_order() {
        for columns in [Columns::InTurn, Columns::Beside] {
            let twice = |item: u32| Ok::<_, u32>(item * 2);
            assert_eq!(columns.map(0..100, twice), Ok((0..100).map(|item| item * 2).collect()));
            let odd = |item: u32| if item % 10 == 7 { Err(item) } else { Ok(item) };
            assert_eq!(columns.map(0..100, odd), Err(7));
        }
    }
}
