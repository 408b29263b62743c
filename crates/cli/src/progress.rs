//! Progress on standard error: on a terminal only, and only when it is wanted.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Whether bars are shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Progress {
    shown: bool,
    colour: bool,
}

impl Progress {
    /// Bars unless they are not wanted; colour unless `NO_COLOR` is set.
    pub(crate) fn new(wanted: bool) -> Self {
        let colour = std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
        Self { shown: wanted && std::io::stderr().is_terminal(), colour }
    }

    /// A bar over bytes; without a total it only spins.
    pub(crate) fn bytes(self, total: Option<u64>) -> ProgressBar {
        if !self.shown {
            return ProgressBar::hidden();
        }
        let (bar, template) = match total {
            Some(total) => {
                (ProgressBar::new(total), "{bar:30} {bytes}/{total_bytes} {bytes_per_sec} {msg} {elapsed} left {eta}")
            }
            None => (ProgressBar::new_spinner(), "{spinner} {bytes} {bytes_per_sec} {msg} {elapsed}"),
        };
        self.styled(bar, template)
    }

    /// A spinner that counts rows.
    pub(crate) fn rows(self) -> ProgressBar {
        if !self.shown {
            return ProgressBar::hidden();
        }
        self.styled(ProgressBar::new_spinner(), "{spinner} {human_pos} rows {per_sec} {elapsed}")
    }

    fn styled(self, bar: ProgressBar, template: &str) -> ProgressBar {
        let template = if self.colour { template.replace("{bar:30}", "{bar:30.cyan}") } else { template.to_owned() };
        bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
        if let Ok(style) = ProgressStyle::with_template(&template) {
            bar.set_style(style);
        }
        bar
    }
}
