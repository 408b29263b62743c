//! Statements that read the table they write: when another commit rules out theirs they are run again on what it left
//! (`linn.isolation-level`, `commit.max-retries`; decision 0019).

use std::future::Future;
use std::pin::Pin;

use linn::Result;
use linn::core::commit::Reads;

use crate::parse::TableOptions;

/// Runs a statement until its commit is in the table or cannot be. Each time its tables are opened and read anew; a statement that
/// does not read what it writes is run once. What `run` gives is boxed: planning below it needs the stack.
pub(super) async fn again<T, F>(options: &TableOptions, mut run: impl FnMut(TableOptions) -> Pin<Box<F>>) -> Result<T>
where
    F: Future<Output = Result<T>>,
{
    let mut tries = 0;
    loop {
        let reads = Reads::default();
        match run(options.noting(&reads)).await {
            Err(e) if reads.is_lost() => {
                tracing::debug!("a statement was ruled out by another commit and runs again: {e}");
                tries += 1;
                if !reads.wait(tries).await? {
                    return Err(e.with("tries", tries));
                }
            }
            result => return result,
        }
    }
}
