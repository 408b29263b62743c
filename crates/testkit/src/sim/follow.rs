//! What a reader of changes keeps: the rows as it was told of them, and where it stands. Both are saved together, as a job that
//! is restarted finds them.

use std::collections::BTreeMap;

use linn_core::stream::Position;

use super::row::{Row, Values};
use super::shape::{Engine, Shape};

/// Rows and a position in the changes of a table.
#[derive(Debug, Clone, Default)]
pub struct Told {
    /// After the last change.
    pub position: Option<Position>,
    /// Rows of tables with a key.
    keyed: BTreeMap<(i32, i32), Values>,
    /// Rows of tables without.
    all: Vec<Row>,
}

impl Told {
    /// Takes changes in, in their order.
    pub fn apply(&mut self, shape: &Shape, changes: impl IntoIterator<Item = Row>) {
        for row in changes {
            if shape.engine == Engine::Append {
                self.all.push(Row { kind: 0, ..row });
                continue;
            }
            match row.kind {
                0 | 2 => drop(self.keyed.insert((row.p, row.k), row.values)),
                // The second half follows.
                1 => {}
                _ => drop(self.keyed.remove(&(row.p, row.k))),
            }
        }
    }

    /// The rows, in order.
    pub fn rows(&self) -> Vec<Row> {
        let keyed = self.keyed.iter().map(|((p, k), values)| Row { p: *p, k: *k, values: values.clone(), kind: 0 });
        let mut rows: Vec<Row> = keyed.chain(self.all.iter().cloned()).collect();
        rows.sort();
        rows
    }
}
