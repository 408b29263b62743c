//! SQL from text to rows, over a warehouse in memory.

mod agrees_with_duckdb;
mod arithmetic_never_wraps;
mod assignments_keep_values;
mod branches_merge_by_key;
mod buckets_of_every_mode;
mod changes_rows;
mod changes_rows_in_place;
mod clauses_work_or_are_refused;
mod columns_are_named_as_written;
mod datafusion_sessions;
mod defaults_everywhere;
mod errors_point;
mod files;
mod logs_tell_their_commits;
mod maintains_tables;
mod metadata_answers;
mod names_in_every_place;
mod names_in_types_are_names;
mod no_text_is_too_odd;
mod numbers_keep_their_digits;
mod operators_bind_as_in_postgresql;
mod overwrites_named_partitions;
mod partitions_are_pruned_by_functions;
mod plans_tell_the_truth;
mod session_statements;
mod shows_changes;
mod statement_sets_are_one_plan;
mod statements_that_read_what_they_write;
mod tags_and_branches;
mod travels_in_time;
mod values_fit_their_types;
mod values_of_every_type_compare;

use std::sync::Arc;

use arrow::util::pretty::pretty_format_batches;
use futures::TryStreamExt;
use linn::{Catalog, Env, FilesystemCatalog, Options};
use linn_sql::{Output, Session};

/// A session over an empty warehouse.
fn session() -> Session {
    let [session] = sessions();
    session
}

/// Sessions over one empty warehouse, with nothing else in common.
fn sessions<const N: usize>() -> [Session; N] {
    let storage = linn::core::storage::open("memory:", &Options::new()).unwrap();
    std::array::from_fn(|_| {
        let env = Env::system(Arc::clone(&storage)).unwrap();
        let catalog: Arc<dyn Catalog> = Arc::new(FilesystemCatalog::new(env, Options::new()));
        Session::new(catalog, "default")
    })
}

/// Runs statements whose output does not matter.
async fn run(session: &Session, sql: &str) {
    session.run(sql, async |_| Ok(())).await.unwrap_or_else(|e| panic!("{sql}: {e:?}"));
}

/// The rows of a query as `a|b` lines.
async fn rows(session: &Session, sql: &str) -> Vec<String> {
    let Output::Rows { stream, .. } = session.execute(sql).await.unwrap_or_else(|e| panic!("{sql}: {e:?}")) else {
        panic!("{sql} gives no rows");
    };
    let batches: Vec<_> = stream.try_collect().await.unwrap_or_else(|e| panic!("{sql}: {e:?}"));
    let text = pretty_format_batches(&batches).unwrap().to_string();
    let cells =
        |line: &str| line.trim_matches('|').split('|').map(|c| c.trim().to_owned()).collect::<Vec<_>>().join("|");
    text.lines().filter(|l| l.starts_with('|')).skip(1).map(cells).collect()
}

/// The error of a statement.
async fn fails(session: &Session, sql: &str) -> linn::Error {
    match session.execute(sql).await {
        Err(e) => e,
        Ok(Output::Done { message, .. }) => panic!("{sql}: {message}"),
        Ok(Output::Rows { stream, .. }) => match stream.try_collect::<Vec<_>>().await {
            Err(e) => e,
            Ok(_) => panic!("{sql} gives rows"),
        },
    }
}

const ORDERS: &str = "CREATE TABLE orders (id BIGINT, dt STRING, amount DECIMAL(10, 2), note STRING, \
     PRIMARY KEY (id, dt) NOT ENFORCED) PARTITIONED BY (dt) WITH ('bucket' = '2'); \
     INSERT INTO orders VALUES (1, 'd1', 10.5, 'a'), (2, 'd1', 20, 'b'), (3, 'd2', 30, 'c')";
