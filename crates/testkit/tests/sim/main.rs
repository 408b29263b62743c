//! Simulated histories: what CI runs of them. Longer ones: `cargo xtask sim`.

mod cuts;
mod decoders;
mod histories;
mod plants;
