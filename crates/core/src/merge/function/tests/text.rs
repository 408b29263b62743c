//! `listagg`: what counts as a value and as a token (cases: M11).

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StringArray};
use linn_format::types::{DataField, DataType};

use crate::merge::function::{Fold, Folds, FunctionOptions, FunctionPlan};
use crate::merge::source::{Cell, Pick};

/// What texts come to one after the other, whether something is taken back and left out or not.
fn check(options: &FunctionOptions, texts: &[Option<&str>], expected: Option<&str>) {
    let field = DataField::new(0, "f", DataType::string());
    let options = FunctionOptions { ignore_retract: true, ..options.clone() };
    let plan = FunctionPlan { column: 0, field, function: "listagg".to_owned(), options };
    let column: ArrayRef = Arc::new(StringArray::from(texts.to_vec()));
    let pick = |row| Pick { source: 0, row };
    for taken_back in [false, true] {
        let mut folds = Folds::default();
        (0..texts.len() as u32).for_each(|row| folds.push(Fold::Add(pick(row))));
        if taken_back {
            folds.push(Fold::Retract(pick(0)));
        }
        folds.close();
        let mut function = plan.build().unwrap();
        function.add_source(&column).unwrap();
        let settled = function.settle(&folds).unwrap();
        let found = match settled.cells[0] {
            Cell::Null => None,
            Cell::Pick(pick) => Some(column.slice(pick.row as usize, 1)),
            Cell::Computed(at) => {
                let computed = settled.computed.unwrap();
                Some(computed.interleave(&[column.as_ref()], &[(1, at as usize)]).unwrap())
            }
        };
        assert_eq!(found.as_ref().map(|text| text.as_string::<i32>().value(0)), expected, "{texts:?} {taken_back}");
    }
}

#[test]
fn blank_is_what_the_reference_takes_for_blank() {
    let plain = FunctionOptions::default();
    check(&plain, &[Some("a"), Some(" \t\n"), Some("\u{1c}\u{1f}"), Some("\u{2003}\u{3000}"), Some("b")], Some("a,b"));
    check(&plain, &[Some("a"), Some("\u{a0}"), Some("\u{202f}"), Some("\u{85}")], Some("a,\u{a0},\u{202f},\u{85}"));
    check(&plain, &[None, Some(""), None], None);
}

#[test]
fn tokens_are_parted_by_the_delimiter_or_by_a_space() {
    let distinct = |delimiter: &str| FunctionOptions {
        distinct: true,
        delimiter: Some(delimiter.to_owned()),
        ..FunctionOptions::default()
    };
    check(&distinct("; "), &[Some("a; b"), Some("b; c;a"), Some("c;a; a")], Some("a; b; c;a"));
    // Nothing is put between tokens that a space parts.
    check(&distinct(""), &[Some("a b"), Some("b c\td"), Some("c\td  a")], Some("a bc\tdc\td"));
    check(&distinct("--"), &[Some("a--a"), Some("-"), Some("a")], Some("a--a---"));
}
