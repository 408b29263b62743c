//! The committed inputs of each target, and small changes of them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The inputs of a target in `tests/fuzz/corpus`, in the order of their names.
///
/// # Panics
/// When there are none.
pub fn corpus(target: &str) -> Vec<(String, Vec<u8>)> {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/fuzz/corpus").join(target);
    let entries = std::fs::read_dir(&dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "{} is empty", dir.display());
    paths
        .into_iter()
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(&path).unwrap()))
        .collect()
}

/// Runs a target over its corpus and over `mutations` changes of it, which `seed` decides.
///
/// # Panics
/// When the target panics, with the bytes that made it.
pub fn check(target: &str, seed: u64, mutations: usize, run: impl Fn(&[u8])) {
    let inputs = corpus(target);
    let one = |what: &str, bytes: &[u8]| {
        if catch_unwind(AssertUnwindSafe(|| run(bytes))).is_err() {
            let path = std::env::temp_dir().join(format!("linn-fuzz-{target}"));
            std::fs::write(&path, bytes).unwrap();
            panic!("{target} panics over {what}; the bytes are in {}", path.display());
        }
    };
    for (name, bytes) in &inputs {
        one(name, bytes);
    }
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    for _ in 0..mutations {
        let (name, bytes) = &inputs[random.random_range(0..inputs.len())];
        let (_, other) = &inputs[random.random_range(0..inputs.len())];
        one(&format!("a change of {name}"), &changed(&mut random, bytes, other));
    }
}

/// A few changes of the kind that damage and other writers make.
fn changed(random: &mut impl Rng, bytes: &[u8], other: &[u8]) -> Vec<u8> {
    const NUMBERS: [&[u8]; 5] =
        [&[0xff; 4], &[0x7f, 0xff, 0xff, 0xff], &[0xff, 0xff, 0xff, 0x7f], &[0; 8], &[0x80, 0x80, 0x80, 0x80, 0x10]];
    let mut bytes = bytes.to_vec();
    for _ in 0..random.random_range(1..4) {
        if bytes.is_empty() {
            bytes.push(random.random());
        }
        let at = random.random_range(0..bytes.len());
        match random.random_range(0..7) {
            0 => bytes[at] ^= 1 << random.random_range(0..8),
            1 => bytes[at] = random.random(),
            2 => bytes.truncate(at),
            3 => drop(bytes.remove(at)),
            4 => bytes.insert(at, random.random()),
            5 => {
                let number = NUMBERS[random.random_range(0..NUMBERS.len())];
                let end = (at + number.len()).min(bytes.len());
                bytes[at..end].copy_from_slice(&number[..end - at]);
            }
            _ if !other.is_empty() => {
                let from = random.random_range(0..other.len());
                let len = random.random_range(1..=(other.len() - from).min(64));
                let end = (at + len).min(bytes.len());
                bytes.splice(at..end, other[from..from + len].iter().copied());
            }
            _ => {}
        }
    }
    bytes
}
