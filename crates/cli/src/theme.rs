//! Colours of the terminal. They are used on terminals only, and not with `NO_COLOR`, `--no-color`, `TERM=dumb` or the theme
//! `none`.

use std::borrow::Cow;
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

/// What a piece of text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// A word of SQL.
    Keyword,
    /// Text in quotes.
    Text,
    /// A number.
    Number,
    /// A comment.
    Comment,
    /// A null in a result.
    Null,
    /// A heading of a result.
    Head,
    /// Lines around results.
    Frame,
    /// The word `error`.
    Error,
    /// The word `warning`.
    Warning,
    /// The word `hint`.
    Hint,
    /// The prompt.
    Prompt,
}

/// A choice of colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Theme {
    /// No colours.
    None,
    /// For dark backgrounds.
    Dark,
    /// For light backgrounds.
    Light,
}

/// Names of the themes, as users give them.
pub(crate) const THEMES: [(&str, Theme); 3] = [("dark", Theme::Dark), ("light", Theme::Light), ("none", Theme::None)];

static OFF: AtomicBool = AtomicBool::new(false);
static CHOSEN: AtomicU8 = AtomicU8::new(0);

/// Sets up colours: the flag, then the environment.
pub(crate) fn set_up(no_color: bool) {
    let set = |name: &str| std::env::var_os(name).is_some_and(|v| !v.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    OFF.store(no_color || set("NO_COLOR") || dumb, Ordering::Relaxed);
    if let Some(theme) = std::env::var("LINN_THEME").ok().and_then(|name| named(&name)) {
        choose(theme);
    }
}

/// The theme of a name.
pub(crate) fn named(name: &str) -> Option<Theme> {
    THEMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, theme)| *theme)
}

/// Chooses a theme.
pub(crate) fn choose(theme: Theme) {
    let at = THEMES.iter().position(|(_, known)| *known == theme).unwrap_or_default();
    CHOSEN.store(u8::try_from(at).unwrap_or_default(), Ordering::Relaxed);
}

/// Whether colours are switched off for the whole program.
pub(crate) fn is_off() -> bool {
    OFF.load(Ordering::Relaxed) || chosen() == Theme::None
}

fn chosen() -> Theme {
    THEMES.get(usize::from(CHOSEN.load(Ordering::Relaxed))).map_or(Theme::Dark, |(_, theme)| *theme)
}

/// The theme of standard output.
pub(crate) fn stdout() -> Theme {
    of(std::io::stdout().is_terminal())
}

/// The theme of standard error.
pub(crate) fn stderr() -> Theme {
    of(std::io::stderr().is_terminal())
}

fn of(terminal: bool) -> Theme {
    if terminal && !is_off() { chosen() } else { Theme::None }
}

impl Theme {
    /// Text in its colour.
    pub(crate) fn paint(self, role: Role, text: &str) -> Cow<'_, str> {
        match self.code(role) {
            Some(code) if !text.is_empty() => Cow::Owned(format!("\x1b[{code}m{text}\x1b[0m")),
            _ => Cow::Borrowed(text),
        }
    }

    /// The parameters of the escape sequence.
    fn code(self, role: Role) -> Option<&'static str> {
        let dark = match self {
            Self::None => return None,
            Self::Dark => true,
            Self::Light => false,
        };
        Some(match role {
            Role::Keyword => {
                if dark {
                    "1;36"
                } else {
                    "1;34"
                }
            }
            Role::Text => {
                if dark {
                    "32"
                } else {
                    "38;5;22"
                }
            }
            Role::Number => {
                if dark {
                    "33"
                } else {
                    "38;5;130"
                }
            }
            Role::Comment | Role::Frame => {
                if dark {
                    "2"
                } else {
                    "38;5;244"
                }
            }
            Role::Null => {
                if dark {
                    "2;3"
                } else {
                    "3;38;5;244"
                }
            }
            Role::Head => "1",
            Role::Error => "1;31",
            Role::Warning => {
                if dark {
                    "1;33"
                } else {
                    "1;38;5;130"
                }
            }
            Role::Hint => {
                if dark {
                    "1;36"
                } else {
                    "1;34"
                }
            }
            Role::Prompt => {
                if dark {
                    "1;32"
                } else {
                    "1;34"
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_theme_has_no_escapes() {
        assert_eq!(Theme::None.paint(Role::Error, "x"), "x");
        assert_eq!(Theme::Dark.paint(Role::Error, "x"), "\x1b[1;31mx\x1b[0m");
        assert_eq!((named("LIGHT"), named("pink")), (Some(Theme::Light), None));
    }
}
