//! The picture in the terminal.

use super::data::{Bar, Picture};
use super::runs::{Bucket, Run};
use crate::output::{count, size};
use crate::theme::{self, Role};

/// Columns left and right of a line of keys.
const LEFT: usize = 6;
const RIGHT: usize = 22;

/// Draws everything within a width.
pub(super) fn draw(picture: &Picture, width: usize) -> String {
    let snapshot = picture.snapshot.map_or("no snapshot yet".to_owned(), |id| format!("snapshot {id}"));
    let mut text = format!(
        "{}, {snapshot}: {}, {}, {}\n",
        picture.table,
        count(picture.files, "file"),
        size(picture.bytes),
        count(picture.rows, "record")
    );
    for bucket in &picture.buckets {
        text.push('\n');
        of_bucket(&mut text, bucket, width.saturating_sub(LEFT + RIGHT).max(10));
    }
    if picture.hidden > 0 {
        text.push_str(&format!("\n… {} with fewer runs not drawn (--limit)\n", count(picture.hidden, "bucket")));
    }
    growth(&mut text, picture, width);
    histogram(&mut text, "Files by size", &picture.sizes, "file", width);
    if let Some(key) = &picture.key {
        histogram(
            &mut text,
            &format!("Records by {key} (estimated from the files' key ranges)"),
            &picture.keys,
            "record",
            width,
        );
    }
    text
}

fn heading(text: &mut String, what: &str) {
    text.push_str(&format!("{}\n", theme::stdout().paint(Role::Head, what)));
}

fn of_bucket(text: &mut String, bucket: &Bucket, line: usize) {
    let what = format!(
        "{}: {}, {}, {}",
        bucket.name,
        count(bucket.runs.len(), "run"),
        count(bucket.files, "file"),
        size(bucket.bytes)
    );
    heading(text, &what);
    for run in &bucket.runs {
        let what = format!("{} {}", count(run.blocks.len(), "file"), size(run.bytes));
        text.push_str(&format!("  L{:<3}{}  {what}\n", run.level, of_run(run, line)));
    }
    if bucket.runs.len() > 1 {
        let step = 1.0 / line as f64;
        let depth = |at: usize| match bucket.depth(step * at as f64, step * (at + 1) as f64) {
            0 => ' ',
            deep => char::from_digit(u32::try_from(deep).unwrap_or(10), 10).unwrap_or('+'),
        };
        text.push_str(&format!("  {:<4}{}  runs over each key\n", "", (0..line).map(depth).collect::<String>()));
    }
    if let Some((low, high)) = &bucket.ends {
        let (low, high) = (clip(low, line / 2 - 1), clip(high, line / 2 - 1));
        let blanks = line.saturating_sub(low.chars().count() + high.chars().count());
        text.push_str(&format!("  {:<4}{low}{}{high}  keys\n", "", " ".repeat(blanks)));
    }
}

/// Files as bars on the line of keys; neighbours differ in shade.
fn of_run(run: &Run, line: usize) -> String {
    let mut drawn = vec![' '; line];
    let place = |at: f64| ((at * line as f64) as usize).min(line - 1);
    for (number, block) in run.blocks.iter().enumerate() {
        let (from, to) = (place(block.from), place(block.to).max(place(block.from)));
        let shade = if number.is_multiple_of(2) { '█' } else { '▓' };
        drawn.iter_mut().take(to + 1).skip(from).for_each(|cell| *cell = shade);
    }
    drawn.into_iter().collect()
}

fn growth(text: &mut String, picture: &Picture, width: usize) {
    if picture.growth.len() < 2 {
        return;
    }
    text.push('\n');
    heading(text, "Growth");
    let most = picture.growth.iter().map(|point| point.bytes).max().unwrap_or(0);
    let id = picture.growth.iter().map(|point| point.snapshot.to_string().len()).max().unwrap_or(1);
    for point in &picture.growth {
        let when: String = point.time.chars().take(19).collect();
        let bar = bar(point.bytes as f64, most as f64, width.saturating_sub(id + 62).max(8));
        let what = format!("{}, {}, {}", size(point.bytes), count(point.files, "file"), count(point.rows, "record"));
        text.push_str(&format!("  {:>id$}  {when}  {bar} {what}\n", point.snapshot.to_string()));
    }
}

fn histogram(text: &mut String, what: &str, bars: &[Bar], noun: &str, width: usize) {
    if bars.is_empty() {
        return;
    }
    text.push('\n');
    heading(text, what);
    let most = bars.iter().map(|bar| bar.count).fold(0.0, f64::max);
    let name = bars.iter().map(|bar| bar.name.chars().count()).max().unwrap_or(0);
    for one in bars {
        let bar = bar(one.count, most, width.saturating_sub(name + 24).max(8));
        let blanks = " ".repeat(name.saturating_sub(one.name.chars().count()));
        text.push_str(&format!("  {blanks}{}  {bar} {}\n", one.name, count(format!("{:.0}", one.count), noun)));
    }
}

/// A bar of eighths of a column.
fn bar(value: f64, most: f64, width: usize) -> String {
    const EIGHTHS: [char; 8] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
    if most <= 0.0 {
        return String::new();
    }
    let eighths = (value / most * width as f64 * 8.0).round().max(0.0) as usize;
    let mut bar = "█".repeat(eighths / 8);
    match EIGHTHS.get(eighths % 8) {
        Some(part) if !eighths.is_multiple_of(8) => bar.push(*part),
        _ if eighths == 0 && value > 0.0 => bar.push('▏'),
        _ => {}
    }
    bar
}

fn clip(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::runs::Block;
    use super::*;

    fn block(from: f64, to: f64) -> Block {
        let keys = Some((format!("{from}"), format!("{to}")));
        Block { from, to, file: "f".into(), bytes: 1024, rows: 1, keys }
    }

    #[test]
    fn runs_stand_over_their_keys() {
        let run = |level: i32, blocks: Vec<Block>| Run { level, bytes: 2048, blocks };
        let bucket = Bucket {
            name: "bucket 0".into(),
            bytes: 4096,
            rows: 3,
            files: 3,
            runs: vec![run(0, vec![block(0.5, 1.0)]), run(5, vec![block(0.0, 0.4), block(0.6, 1.0)])],
            ends: Some(("0".into(), "1".into())),
        };
        let mut text = String::new();
        of_bucket(&mut text, &bucket, 10);
        let expected =
            "bucket 0: 2 runs, 3 files, 4.0 KiB\n  L0       █████  1 file 2.0 KiB\n  L5  █████ ▓▓▓▓  2 files 2.0 KiB\n";
        assert!(text.starts_with(expected), "{text}");
        assert!(text.ends_with("      0        1  keys\n"), "{text}");
        assert_eq!(bucket.depth(0.9, 1.0), 2);
    }

    #[test]
    fn bars_have_eighths() {
        assert_eq!(bar(1.0, 1.0, 2), "██");
        assert_eq!(bar(0.5, 1.0, 1), "▌");
        assert_eq!(bar(0.001, 1.0, 10), "▏");
        assert_eq!(bar(0.0, 0.0, 10), "");
    }
}
