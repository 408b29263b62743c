//! Streams of a case's table, with changes as text.

use arrow_array::RecordBatch;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use futures::StreamExt;
use linn_core::Table;
use linn_core::stream::{ChangeStream, Position};
use linn_format::Result;
use linn_format::types::RowKind;

use crate::case::Case;

/// Rows such as `+I(1,abc,NULL)`, and the position after them.
pub(crate) type Delivered = (Vec<String>, Position);

/// Changes as text.
pub(crate) fn changes(batch: &RecordBatch) -> Vec<String> {
    let options = FormatOptions::default().with_null("NULL");
    let columns: Vec<_> = batch.columns().iter().map(|c| ArrayFormatter::try_new(c, &options).unwrap()).collect();
    let kinds = linn_core::read::kinds_of(batch).unwrap();
    let values = columns.len() - 1;
    (0..batch.num_rows())
        .map(|row| {
            let kind = RowKind::from_byte(kinds.value(row) as u8).unwrap().short();
            let values: Vec<String> = columns[..values].iter().map(|c| c.value(row).to_string()).collect();
            format!("{kind}({})", values.join(","))
        })
        .collect()
}

/// The next delivery of a stream.
pub(crate) async fn next(stream: &mut ChangeStream) -> Option<Result<Delivered>> {
    let changes_of = |c: linn_core::stream::Changes| (changes(&c.rows), c.position);
    stream.next().await.map(|delivered| delivered.map(changes_of))
}

/// All that a table has from a position, or from where its options say, until now.
pub(crate) async fn drain(table: &Table, from: Option<Position>) -> Result<Vec<Delivered>> {
    let mut stream = table.changes().position(from).until_now().open().await?;
    let mut all = Vec::new();
    while let Some(delivered) = next(&mut stream).await {
        all.push(delivered?);
    }
    Ok(all)
}

/// The rows of deliveries, in order.
pub(crate) fn rows(delivered: &[Delivered]) -> Vec<String> {
    delivered.iter().flat_map(|(rows, _)| rows.clone()).collect()
}

impl Case {
    /// All changes from where the options say until now, in order.
    pub(crate) async fn follow(&self, options: &[(&str, &str)]) -> Result<Vec<String>> {
        let table = self.table.with_options(&options.iter().copied().collect())?;
        Ok(rows(&drain(&table, None).await?))
    }

    /// As [`Case::follow`], which must succeed, sorted.
    pub(crate) async fn followed(&self, options: &[(&str, &str)]) -> Vec<String> {
        let mut rows = self.follow(options).await.unwrap();
        rows.sort();
        rows
    }
}
