//! The columns of a file whose table does not exist yet. All rows are looked at, so that the import that follows fits.

mod guess;
mod shape;

use arrow::array::AsArray;
use indicatif::ProgressBar;
use linn::format::types::DataField;
use linn::{Error, Result, ResultExt};

use super::chunk::{Chunks, named};
use super::json::members;
use super::json::texts::Texts;
use super::source::Source;
use guess::Guess;
use shape::{Shape, add};

/// The columns of a CSV file, from its rows as text.
pub(crate) fn of_text(names: &[String], chunks: Chunks) -> Result<Vec<DataField>> {
    let mut guesses = vec![Guess::Nothing; names.len()];
    for chunk in chunks {
        let batch = chunk?.batch;
        for (guess, column) in guesses.iter_mut().zip(batch.columns()) {
            let values = column.as_string::<i32>().iter().flatten();
            *guess = values.fold(*guess, |guess, value| match guess {
                Guess::Text => guess,
                guess => guess.and(Guess::of(value)),
            });
        }
    }
    let field = |(name, guess): (&String, &Guess)| DataField::new(0, name, guess.data_type());
    Ok(names.iter().zip(&guesses).map(field).collect())
}

/// The columns of a JSON file, in the order in which they occur.
pub(crate) fn of_json(source: &Source, bar: &ProgressBar) -> Result<Vec<DataField>> {
    let mut columns: Vec<(String, Shape)> = Vec::new();
    let mut rows = Texts::new(source.reader(bar)?);
    let mut row = Vec::new();
    while rows.next(&mut row).context("file", source.name())? {
        // What is no object is reported when the rows are imported.
        let Ok(members) = members(&row) else { continue };
        for (name, value) in members {
            let name = named(&name);
            match columns.iter_mut().find(|(known, _)| known == name) {
                Some((_, shape)) => shape.take(value),
                None => {
                    let mut shape = Shape::NOTHING;
                    shape.take(value);
                    add(&mut columns, name, shape);
                }
            }
        }
        if columns.len() > COLUMNS {
            return Err(Error::invalid(format!("the file has more than {COLUMNS} different keys"))
                .with("file", source.name())
                .with_hint("create the table first, with a MAP for objects whose keys are values"));
        }
    }
    Ok(columns.iter().map(|(name, shape)| DataField::new(0, name, shape.data_type())).collect())
}

/// Columns of a table that is inferred at the most.
const COLUMNS: usize = 10_000;
