//! The picture as one page that needs nothing else: its drawings are SVG, and each part tells more under the pointer.

use super::data::{Bar, Picture, Point};
use super::runs::Bucket;
use crate::output::{count, size};

/// Width of a drawing.
const WIDTH: f64 = 900.0;
/// Height of a run.
const ROW: f64 = 22.0;

const STYLE: &str = "\
:root{color-scheme:light dark;--fg:#1c2330;--bg:#ffffff;--soft:#6b7485;--a:#3b6fb6;--b:#7ba3d6;--line:#d5dae3}\
@media(prefers-color-scheme:dark){:root{--fg:#e4e8ef;--bg:#161a21;--soft:#98a2b3;--a:#6ea0e6;--b:#3f6ba6;--line:#343b47}}\
body{font:15px/1.5 system-ui,sans-serif;color:var(--fg);background:var(--bg);max-width:1000px;margin:2rem auto;padding:0 1rem}\
h1{font-size:1.5rem}h2{font-size:1.1rem;margin-top:2rem;border-bottom:1px solid var(--line)}h3{font-size:1rem;margin-bottom:.2rem}\
p,text{color:var(--soft);fill:var(--soft)}text{font-size:12px}svg{max-width:100%;height:auto}\
.a{fill:var(--a)}.b{fill:var(--b)}rect:hover{opacity:.75}.base{stroke:var(--line)}";

/// The page.
pub(super) fn page(picture: &Picture) -> String {
    let name = escape(&picture.table);
    let snapshot = picture.snapshot.map_or("no snapshot yet".to_owned(), |id| format!("snapshot {id}"));
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{name}</title>\
         <meta name=\"viewport\" content=\"width=device-width\"><style>{STYLE}</style></head><body>\n<h1>{name}</h1>\n\
         <p>{snapshot}: {}, {}, {}</p>\n<h2>Levels and runs</h2>\n",
        count(picture.files, "file"),
        size(picture.bytes),
        count(picture.rows, "record"),
    );
    for bucket in &picture.buckets {
        of_bucket(&mut out, bucket);
    }
    if picture.hidden > 0 {
        out.push_str(&format!("<p>{} with fewer runs not drawn.</p>\n", count(picture.hidden, "bucket")));
    }
    if picture.growth.len() > 1 {
        let column = |p: &Point| Column {
            name: p.snapshot.to_string(),
            height: p.bytes as f64,
            label: size(p.bytes),
            more: format!("{} · {}, {}, {}", p.time, size(p.bytes), count(p.files, "file"), count(p.rows, "record")),
        };
        let columns: Vec<Column> = picture.growth.iter().map(column).collect();
        section(&mut out, "Growth over snapshots", &columns);
    }
    section(&mut out, "Files by size", &named(&picture.sizes, "file"));
    if let Some(key) = &picture.key {
        section(&mut out, &format!("Records by {} (estimated)", escape(key)), &named(&picture.keys, "record"));
    }
    out.push_str("</body></html>\n");
    out
}

/// A column of a chart: its name below it, its label on it, and what more there is to say under the pointer.
struct Column {
    name: String,
    height: f64,
    label: String,
    more: String,
}

fn named(bars: &[Bar], noun: &str) -> Vec<Column> {
    let column = |bar: &Bar| Column {
        name: bar.name.clone(),
        height: bar.count,
        label: format!("{:.0}", bar.count),
        more: count(format!("{:.0}", bar.count), noun),
    };
    bars.iter().map(column).collect()
}

fn of_bucket(out: &mut String, bucket: &Bucket) {
    let runs = count(bucket.runs.len(), "run");
    out.push_str(&format!(
        "<h3>{}</h3><p>{runs}, {}, {}</p>\n",
        escape(&bucket.name),
        count(bucket.files, "file"),
        size(bucket.bytes)
    ));
    let height = ROW * bucket.runs.len() as f64 + 20.0;
    out.push_str(&format!("<svg viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" role=\"img\">\n"));
    let (left, span) = (40.0, WIDTH - 50.0);
    for (at, run) in bucket.runs.iter().enumerate() {
        let y = ROW * at as f64;
        out.push_str(&format!("<text x=\"0\" y=\"{}\">L{}</text>", y + 15.0, run.level));
        for (number, block) in run.blocks.iter().enumerate() {
            let (x, width) = (left + block.from * span, ((block.to - block.from) * span).max(3.0));
            let keys = block.keys.as_ref().map_or(String::new(), |(low, high)| format!(", keys {low} … {high}"));
            let title = format!("{}: {}, {}{keys}", block.file, size(block.bytes), count(block.rows, "record"));
            out.push_str(&format!(
                "<rect class=\"{}\" x=\"{x:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"16\" rx=\"3\"><title>{}</title></rect>",
                if number.is_multiple_of(2) { "a" } else { "b" },
                y + 3.0,
                escape(&title)
            ));
        }
        out.push('\n');
    }
    if let Some((low, high)) = &bucket.ends {
        let y = height - 5.0;
        out.push_str(&format!(
            "<text x=\"{left}\" y=\"{y}\">{}</text><text x=\"{}\" y=\"{y}\" text-anchor=\"end\">{}</text>\n",
            escape(low),
            left + span,
            escape(high)
        ));
    }
    out.push_str("</svg>\n");
}

/// About how wide a letter is.
const LETTER: f64 = 6.8;
/// How wide a column of a chart may be.
const WIDEST: f64 = 120.0;
/// Height of the highest column, and of the labels above it.
const HIGHEST: f64 = 150.0;
const ABOVE: f64 = 18.0;

/// A chart of columns. Names that are wider than a column stand aslant; where columns are narrow, only some are named.
fn section(out: &mut String, title: &str, columns: &[Column]) {
    if columns.is_empty() {
        return;
    }
    let most = columns.iter().map(|column| column.height).fold(0.0, f64::max).max(1.0);
    let step = (WIDTH / columns.len() as f64).min(WIDEST);
    let longest = |text: fn(&Column) -> &str| {
        columns.iter().map(|column| text(column).chars().count()).max().unwrap_or(0) as f64 * LETTER
    };
    let (names, labels) = (longest(|column| &column.name), longest(|column| &column.label));
    let (aslant, base) = (names > step, ABOVE + HIGHEST);
    let below = if aslant { 16.0 + names * 0.5 } else { 22.0 };
    let every = (16.0 / step).ceil().max(1.0) as usize;
    out.push_str(&format!(
        "<h2>{title}</h2>\n<svg viewBox=\"0 0 {WIDTH} {:.0}\" width=\"{WIDTH}\" role=\"img\">\n\
         <line class=\"base\" x1=\"0\" x2=\"{WIDTH}\" y1=\"{base}\" y2=\"{base}\"/>\n",
        base + below
    ));
    for (at, column) in columns.iter().enumerate() {
        let (middle, tall) = (step * (at as f64 + 0.5), column.height / most * HIGHEST);
        let (top, width) = (base - tall, (step * 0.8).max(1.0));
        out.push_str(&format!(
            "<rect class=\"a\" x=\"{:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{tall:.1}\" rx=\"2\">\
             <title>{}</title></rect>\n",
            middle - width / 2.0,
            escape(&format!("{}: {}", column.name, column.more)),
        ));
        if labels <= step {
            text(out, middle, top - 5.0, false, &column.label);
        }
        if at.is_multiple_of(every) {
            text(out, middle, base + 16.0, aslant, &column.name);
        }
    }
    out.push_str("</svg>\n");
}

/// A text that is centered at `x`, or ends there and rises.
fn text(out: &mut String, x: f64, y: f64, aslant: bool, text: &str) {
    let place = match aslant {
        true => format!("text-anchor=\"end\" transform=\"rotate(-30 {x:.1} {y:.1})\""),
        false => "text-anchor=\"middle\"".to_owned(),
    };
    out.push_str(&format!("<text x=\"{x:.1}\" y=\"{y:.1}\" {place}>{}</text>\n", escape(text)));
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_break_the_page() {
        let page = page(&Picture { table: "d.<script>".into(), ..Picture::default() });
        assert!(page.contains("d.&lt;script&gt;") && !page.contains("<script>"), "{page}");
        assert!(page.ends_with("</body></html>\n"));
    }
}
