//! Elements by identity in the order of first appearance. A key has few of them as a rule, which are compared one by one.

use std::collections::HashMap;

use super::element::Item;
use super::identity::Id;

/// Elements by identity. It can be emptied and used again.
#[derive(Default)]
pub(super) struct Table<'a> {
    items: Vec<(Id<'a>, Option<Item>)>,
    /// Places by identity, from [`FEW`] elements on.
    at: HashMap<Id<'a>, usize>,
    removed: usize,
}

/// Elements up to which looking at all of them is faster than a hash of one.
const FEW: usize = 16;

impl<'a> Table<'a> {
    /// Elements.
    pub(super) fn len(&self) -> usize {
        self.items.len() - self.removed
    }

    fn place(&self, key: Id<'_>) -> Option<usize> {
        if self.items.len() < FEW {
            return self.items.iter().rposition(|(k, item)| item.is_some() && *k == key);
        }
        self.at.get(&key).copied()
    }

    /// The element of an identity.
    pub(super) fn get(&self, key: Id<'_>) -> Option<Item> {
        self.items.get(self.place(key)?)?.1
    }

    /// Puts an element at the place of that of the same identity, else at the end.
    pub(super) fn put(&mut self, key: Id<'a>, item: Item) {
        if let Some(there) = self.place(key).and_then(|at| self.items.get_mut(at)) {
            there.1 = Some(item);
            return;
        }
        self.items.push((key, Some(item)));
        if self.items.len() == FEW {
            let places = self.items.iter().enumerate().filter(|(_, (_, item))| item.is_some());
            self.at = places.map(|(at, (key, _))| (*key, at)).collect();
        } else if self.items.len() > FEW {
            self.at.insert(key, self.items.len() - 1);
        }
    }

    /// Takes out the element of an identity.
    pub(super) fn remove(&mut self, key: Id<'a>) {
        if let Some(at) = self.place(key) {
            self.items[at].1 = None;
            self.removed += 1;
            self.at.remove(&key);
        }
    }

    /// The elements in order.
    pub(super) fn items(&self) -> impl Iterator<Item = Item> {
        self.items.iter().filter_map(|(_, item)| *item)
    }

    /// Starts over.
    pub(super) fn clear(&mut self) {
        self.items.clear();
        if !self.at.is_empty() {
            self.at.clear();
        }
        self.removed = 0;
    }
}
