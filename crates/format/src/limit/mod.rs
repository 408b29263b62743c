//! What values a type admits beyond what its Arrow type does, in one place for everything that brings rows in: lengths in
//! characters and bytes, digits of decimals, nulls, digits of seconds, at any depth (spec: features.md B1).
//!
//! Times and timestamps lose the digits that their type has not; everything else is a [`Misfit`].

mod misfit;
mod overflow;
mod second;

pub use misfit::{Misfit, misfit, misfits};
pub use overflow::overflow;
pub use second::{cut_seconds, floor_seconds, without_digits_beyond_nanos};

#[cfg(test)]
mod tests;
