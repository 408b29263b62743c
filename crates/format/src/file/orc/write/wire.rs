//! Protocol buffer messages, in which the format describes a file.

use crate::row::put_var_int;

/// A message being written.
#[derive(Default)]
pub(super) struct Message(Vec<u8>);

impl Message {
    pub(super) fn number(mut self, field: u32, value: u64) -> Self {
        put_var_int(&mut self.0, u64::from(field) << 3);
        put_var_int(&mut self.0, value);
        self
    }

    pub(super) fn bytes(mut self, field: u32, value: &[u8]) -> Self {
        put_var_int(&mut self.0, u64::from(field) << 3 | 2);
        put_var_int(&mut self.0, value.len() as u64);
        self.0.extend_from_slice(value);
        self
    }

    pub(super) fn message(self, field: u32, value: &Message) -> Self {
        self.bytes(field, &value.0)
    }

    /// Numbers of a field that repeats.
    pub(super) fn packed(self, field: u32, values: impl IntoIterator<Item = u64>) -> Self {
        let mut all = Vec::new();
        values.into_iter().for_each(|value| put_var_int(&mut all, value));
        if all.is_empty() { self } else { self.bytes(field, &all) }
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}
