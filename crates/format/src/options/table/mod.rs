//! Every table option, as data: key, kind of value, default, older keys, whether it may change (spec: options.md).
//!
//! Parsing, validation, `ALTER TABLE` rules and documentation all read this one table.

use super::def::{OptionDef, OptionKind};

/// Declares options: `NAME = ("key", Kind, default, [fallback keys], immutable, "description");`.
macro_rules! options {
    ($($name:ident = ($key:literal, $kind:expr, $default:expr, [$($fallback:literal),*], $immutable:literal, $text:literal));* $(;)?) => {
        #[allow(unused_imports)]
        use super::super::def::OptionKind::*;
        use super::super::def::OptionDef;

        $(
            #[doc = concat!("`", $key, "`: ", $text)]
            pub const $name: OptionDef = OptionDef {
                key: $key,
                kind: $kind,
                default: $default,
                fallback_keys: &[$($fallback),*],
                immutable: $immutable,
                description: $text,
            };
        )*

        /// The options of this file.
        pub(super) const ALL: &[OptionDef] = &[$($name),*];
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
