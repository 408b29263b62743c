//! `listagg`: what counts as a value and as a token (cases: M11).

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, StringArray};
use linn_format::types::{DataField, DataType};

use crate::merge::function::{Fold, FunctionOptions, FunctionPlan};
use crate::merge::source::{Cell, Pick};

/// What texts come to, one after the other, and told as many at once.
fn check(options: &FunctionOptions, texts: &[Option<&str>], expected: Option<&str>) {
    let field = DataField::new(0, "f", DataType::string());
    let plan = FunctionPlan { column: 0, field, function: "listagg".to_owned(), options: options.clone() };
    let column: ArrayRef = Arc::new(StringArray::from(texts.to_vec()));
    let pick = |row| Pick { source: 0, row };
    let mut folds = crate::merge::function::Folds::default();
    (0..texts.len() as u32).for_each(|row| folds.push(Fold::Add(pick(row))));
    folds.close();
    let steps: Vec<Fold> = folds.iter().flatten().copied().collect();
    for many in [false, true] {
        let mut function = plan.build().unwrap();
        function.add_source(&column).unwrap();
        let mut cells = Vec::new();
        match many {
            true => function.fold_all(&folds, &mut cells).unwrap(),
            false => cells.push(function.fold(&steps).unwrap()),
        }
        let computed = function.computed().unwrap();
        let found = match cells[0] {
            Cell::Null => None,
            Cell::Pick(pick) => Some(column.as_string::<i32>().value(pick.row as usize)),
            Cell::Computed(at) => computed.as_ref().map(|texts| texts.as_string::<i32>().value(at as usize)),
        };
        assert_eq!(found, expected, "{texts:?} {many}");
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
