//! How results are shown on standard output: what flags say, and in a session commands such as `\x`.

use std::fs::File;
use std::sync::{Arc, PoisonError, RwLock};

/// How results are shown.
#[derive(Debug, Clone)]
pub(crate) struct View {
    /// Rows of a table on a terminal; `None` is as many as the terminal is for, 0 is all.
    pub(crate) max_rows: Option<usize>,
    /// Whether long results go through a pager.
    pub(crate) pager: bool,
    /// Whether rows of tables stand one below the other, each as a list of its columns.
    pub(crate) expanded: bool,
    /// Where results go in place of standard output.
    pub(crate) file: Option<Arc<File>>,
}

static VIEW: RwLock<View> = RwLock::new(View { max_rows: None, pager: true, expanded: false, file: None });

/// How results are shown now.
pub(crate) fn view() -> View {
    VIEW.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Changes how results are shown.
pub(crate) fn set_view(change: impl FnOnce(&mut View)) {
    change(&mut VIEW.write().unwrap_or_else(PoisonError::into_inner));
}
