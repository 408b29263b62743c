//! Elements by identity in the order of first appearance. A key has few of them as a rule, which are compared one by one.

use std::collections::HashMap;
use std::hash::Hash;

use super::element::Item;

/// Elements by identity. It can be emptied and used again.
pub(super) struct Table<K> {
    items: Vec<(K, Option<Item>)>,
    /// Places by identity, from [`FEW`] elements on.
    places: HashMap<K, usize>,
    removed: usize,
}

impl<K> Default for Table<K> {
    fn default() -> Self {
        Self { items: Vec::new(), places: HashMap::new(), removed: 0 }
    }
}

/// Elements up to which looking at all of them is faster than a hash of one.
const FEW: usize = 16;

impl<K: Copy + Eq + Hash> Table<K> {
    /// Elements.
    pub(super) fn len(&self) -> usize {
        self.items.len() - self.removed
    }

    /// The place of the element of an identity.
    #[inline]
    pub(super) fn place(&self, key: K) -> Option<usize> {
        if self.items.len() < FEW {
            return self.items.iter().rposition(|(k, item)| item.is_some() && *k == key);
        }
        self.places.get(&key).copied()
    }

    /// The element at a place.
    pub(super) fn at(&self, place: usize) -> Option<Item> {
        self.items.get(place)?.1
    }

    /// Replaces the element at a place.
    pub(super) fn set(&mut self, place: usize, item: Item) {
        if let Some(there) = self.items.get_mut(place) {
            there.1 = Some(item);
        }
    }

    /// Puts an element at the place of that of the same identity, else at the end.
    pub(super) fn put(&mut self, key: K, item: Item) {
        match self.place(key) {
            Some(place) => self.set(place, item),
            None => self.push(key, item),
        }
    }

    /// Puts an element whose identity has no place at the end.
    pub(super) fn push(&mut self, key: K, item: Item) {
        self.items.push((key, Some(item)));
        if self.items.len() == FEW {
            let places = self.items.iter().enumerate().filter(|(_, (_, item))| item.is_some());
            self.places = places.map(|(at, (key, _))| (*key, at)).collect();
        } else if self.items.len() > FEW {
            self.places.insert(key, self.items.len() - 1);
        }
    }

    /// Takes out the element of an identity.
    pub(super) fn remove(&mut self, key: K) {
        if let Some(at) = self.place(key) {
            self.items[at].1 = None;
            self.removed += 1;
            self.places.remove(&key);
        }
    }

    /// The elements in order.
    pub(super) fn items(&self) -> impl Iterator<Item = Item> {
        self.items.iter().filter_map(|(_, item)| *item)
    }

    /// Starts over.
    pub(super) fn clear(&mut self) {
        self.items.clear();
        if !self.places.is_empty() {
            self.places.clear();
        }
        self.removed = 0;
    }
}
