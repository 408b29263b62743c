//! Simulated histories: what CI runs of them. Longer ones: `cargo xtask sim`.

mod decoders;
mod histories;
