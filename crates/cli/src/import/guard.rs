//! Calls of libraries that decode files: some check bytes by assertions, and a panic there says that the file is damaged.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Calls `work`; what a panic said otherwise. The panic is not printed, and what the work borrowed must not be used again.
pub(crate) fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    quiet();
    let before = GUARDED.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    GUARDED.set(before);
    done.map_err(|panic| said(&*panic))
}

/// Panics of guarded work are told as errors, those of other work are printed as before.
fn quiet() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !GUARDED.get() {
                usual(panic);
            }
        }));
    });
}

/// The message of a panic.
pub(crate) fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic without a message".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_what_it_said() {
        assert_eq!(guarded(|| 7), Ok(7));
        assert_eq!(guarded(|| -> u8 { panic!("byte {}", 5) }), Err("byte 5".to_owned()));
        assert_eq!(
            guarded(|| Vec::<u8>::new()[3]).unwrap_err(),
            "index out of bounds: the len is 0 but the index is 3"
        );
    }
}
