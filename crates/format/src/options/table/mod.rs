//! Every table option, as data: key, kind of value, default, older keys, whether it may change (spec: options.md).
//!
//! Parsing, validation, `ALTER TABLE` rules and documentation all read this one table.

use super::def::{OptionDef, OptionKind};

/// The type that options of a kind are read as.
macro_rules! value {
    (Bool) => {
        bool
    };
    (Int) => {
        i32
    };
    (Long) => {
        i64
    };
    (Double) => {
        f64
    };
    (Text) => {
        str
    };
    (Memory) => {
        $crate::options::Memory
    };
    (Duration) => {
        std::time::Duration
    };
    (Map) => {
        $crate::options::Pairs
    };
    (Choice) => {
        $crate::options::Word
    };
}

/// Declares options: `NAME = ("key", Kind, default, [fallback keys], immutable, "description");`.
macro_rules! options {
    ($($name:ident = ($key:literal, $kind:ident $(($words:expr))?, $default:expr, [$($fallback:literal),*], $immutable:literal, $text:literal));* $(;)?) => {
        use super::super::def::{OptionDef, OptionKind};

        $(
            #[doc = concat!("`", $key, "`: ", $text)]
            pub const $name: OptionDef<value!($kind)> = OptionDef {
                key: $key,
                kind: OptionKind::$kind $(($words))?,
                default: $default,
                fallback_keys: &[$($fallback),*],
                immutable: $immutable,
                description: $text,
                value: std::marker::PhantomData,
            };
        )*

        /// The options of this file.
        pub(super) const ALL: &[OptionDef] = &[$($name.untyped()),*];
    };
}

pub mod blob;
pub mod bucket;
pub mod changelog;
pub mod commit;
pub mod compaction;
pub mod file;
pub mod general;
pub mod index;
pub mod key;
pub mod lookup;
pub mod partition;
pub mod scan;
pub mod write;

const GROUPS: &[&[OptionDef]] = &[
    blob::ALL,
    bucket::ALL,
    changelog::ALL,
    commit::ALL,
    compaction::ALL,
    file::ALL,
    index::ALL,
    key::ALL,
    lookup::ALL,
    partition::ALL,
    scan::ALL,
    general::ALL,
    write::ALL,
];

/// All options, group by group, by key within a group.
pub static OPTIONS: &[OptionDef] = &concat::<{ count() }>();

const fn count() -> usize {
    let (mut total, mut group) = (0, 0);
    while group < GROUPS.len() {
        total += GROUPS[group].len();
        group += 1;
    }
    total
}

const fn concat<const N: usize>() -> [OptionDef; N] {
    const BLANK: OptionDef = OptionDef {
        key: "",
        kind: OptionKind::Text,
        default: None,
        fallback_keys: &[],
        immutable: false,
        description: "",
        value: std::marker::PhantomData,
    };
    let mut all = [BLANK; N];
    let (mut at, mut group) = (0, 0);
    while group < GROUPS.len() {
        let mut i = 0;
        while i < GROUPS[group].len() {
            all[at] = GROUPS[group][i];
            at += 1;
            i += 1;
        }
        group += 1;
    }
    all
}
