//! The simulator: whole histories of a table in one thread, decided by a seed, with faults at every effect, and checks of
//! every promise at the end (spec: reliability.md; `docs/reliability/simulation.md`).
//!
//! Writers, compactors, deleters, incrementers, readers, followers, expirers, cleaners, taggers, branchers and changes of the
//! schema are processes that know the table through the four seams only. Invariant: nothing but the seed decides what happens,
//! so that a seed that fails fails again.

pub mod actor;
pub mod campaign;
pub mod check;
pub mod cut;
pub mod executor;
pub mod fault;
pub mod follow;
pub mod model;
pub mod plant;
pub mod reach;
pub mod row;
pub mod run;
pub mod shape;
pub mod store;
pub mod story;
pub mod violation;
pub mod world;

pub use plant::{Hazard, Setup};
pub use run::{Outcome, Scale, run};
pub use shape::Shape;
pub use violation::{Broken, Violation};
