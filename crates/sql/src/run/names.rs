//! The names of functions and procedures, for those who complete or list them.

use crate::session::Session;

impl Session {
    /// All functions: scalar, aggregate and window ones, in order.
    pub fn functions(&self) -> Vec<String> {
        let state = self.context().state();
        let mut names: Vec<String> = state.scalar_functions().keys().cloned().collect();
        names.extend(state.aggregate_functions().keys().cloned());
        names.extend(state.window_functions().keys().cloned());
        names.sort_unstable();
        names.dedup();
        names
    }

    /// All procedures of `CALL sys.…`, without `sys.`, in order.
    pub fn procedures(&self) -> Vec<String> {
        let mut names: Vec<String> = super::procedures().map(str::to_owned).collect();
        names.sort_unstable();
        names
    }
}
