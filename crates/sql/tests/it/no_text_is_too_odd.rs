//! The parser answers every text with statements or an error: the corpus of its fuzz target, and changes of it.

use std::path::Path;

use linn_sql::check_syntax;

const CHANGES: usize = 2_000;

/// A generator that needs nothing: numbers below `most`.
fn numbers(mut state: u64) -> impl FnMut(usize) -> usize {
    move |most| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % most as u64).unwrap()
    }
}

#[test]
fn for_the_parser() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fuzz/corpus/sql");
    let mut texts: Vec<String> =
        std::fs::read_dir(corpus).unwrap().map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap()).collect();
    texts.sort();
    for text in &texts {
        assert!(check_syntax(text).unwrap() > 0, "{text}");
    }
    let words: Vec<&str> = texts.iter().flat_map(|text| text.split(' ')).collect();
    let mut number = numbers(7);
    for _ in 0..CHANGES {
        let mut changed: Vec<&str> = texts[number(texts.len())].split(' ').collect();
        for _ in 0..=number(4) {
            let (at, word) = (number(changed.len()), words[number(words.len())]);
            match number(4) {
                0 => changed[at] = word,
                1 => changed.insert(at, word),
                2 if changed.len() > 1 => drop(changed.remove(at)),
                _ => {
                    let end =
                        (0..=changed[at].len() / 2).rev().find(|end| changed[at].is_char_boundary(*end)).unwrap_or(0);
                    changed[at] = &changed[at][..end];
                }
            }
        }
        check_syntax(&changed.join(" ")).ok();
    }
}
