//! linn
