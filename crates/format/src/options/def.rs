//! What is known about one option.

use std::marker::PhantomData;

/// The kind of value an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OptionKind {
    /// `true` or `false`.
    Bool,
    /// A 32-bit number.
    Int,
    /// A 64-bit number.
    Long,
    /// A floating-point number.
    Double,
    /// Any text, a list of names too.
    Text,
    /// A size: `128 mb`, `64kb`, or plain bytes.
    Memory,
    /// A time: `1 h`, `10s`, plain milliseconds, or ISO (`PT1H`).
    Duration,
    /// `key:value` pairs separated by commas.
    Map,
    /// One of these words, in any case.
    Choice(&'static [&'static str]),
}

/// One option of the table [`OPTIONS`](super::OPTIONS), whose text is read as `T` (see [`OptionValue`](super::OptionValue)).
#[derive(Debug, PartialEq, Eq)]
pub struct OptionDef<T: ?Sized = Untyped> {
    /// Key in the schema.
    pub key: &'static str,
    /// What its value must be.
    pub kind: OptionKind,
    /// Value where neither the key nor a fallback key is set.
    pub default: Option<&'static str>,
    /// Older keys, consulted in order when the key is not set.
    pub fallback_keys: &'static [&'static str],
    /// Whether it cannot change once the table has a snapshot.
    pub immutable: bool,
    /// One sentence for users.
    pub description: &'static str,
    pub(super) value: PhantomData<T>,
}

/// Options of any type, for lists of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Untyped {}

impl<T: ?Sized> Clone for OptionDef<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> Copy for OptionDef<T> {}

impl<T: ?Sized> OptionDef<T> {
    /// The same option without its type.
    pub const fn untyped(&self) -> OptionDef {
        OptionDef {
            key: self.key,
            kind: self.kind,
            default: self.default,
            fallback_keys: self.fallback_keys,
            immutable: self.immutable,
            description: self.description,
            value: PhantomData,
        }
    }
}
