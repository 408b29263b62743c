//! Progress on standard error: on a terminal only, only when it is wanted, and not for what is done at once.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use linn::core::seam::{Clock, SystemClock};

use crate::args::OutputFormat;

/// Work that takes less shows no bar.
const PATIENCE_MILLIS: u64 = 500;

/// Whether bars are shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Progress {
    shown: bool,
    colour: bool,
}

impl Progress {
    /// Bars unless they are not wanted; colour unless it is switched off.
    pub(crate) fn new(wanted: bool) -> Self {
        Self { shown: wanted && std::io::stderr().is_terminal(), colour: !crate::theme::is_off() }
    }

    /// A bar over bytes; without a total it only spins.
    pub(crate) fn bytes(self, total: Option<u64>) -> ProgressBar {
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
        self.styled(ProgressBar::new_spinner(), "{spinner} {human_pos} rows {per_sec} {elapsed}")
    }

    /// A spinner that counts the rows of a query; none where the rows themselves run over the terminal.
    pub(crate) fn query(self, output: OutputFormat) -> ProgressBar {
        let table = matches!(output, OutputFormat::Table | OutputFormat::Vertical);
        match std::io::stdout().is_terminal() && !table {
            true => ProgressBar::hidden(),
            false => self.rows(),
        }
    }

    fn styled(self, bar: ProgressBar, template: &str) -> ProgressBar {
        bar.set_draw_target(ProgressDrawTarget::hidden());
        if !self.shown {
            return bar;
        }
        let template = if self.colour { template.replace("{bar:30}", "{bar:30.cyan}") } else { template.to_owned() };
        if let Ok(style) = ProgressStyle::with_template(&template) {
            bar.set_style(style);
        }
        let later = bar.downgrade();
        tokio::spawn(async move {
            SystemClock.sleep(PATIENCE_MILLIS).await;
            // What is done meanwhile is gone, or finished.
            if let Some(bar) = later.upgrade().filter(|bar| !bar.is_finished()) {
                bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
                bar.enable_steady_tick(Duration::from_millis(100));
            }
        });
        bar
    }
}
