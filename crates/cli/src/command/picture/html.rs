//! The picture as one page that needs nothing else: its drawings are SVG, and each part tells more under the pointer.

use super::data::{Bar, Picture};
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
        let bars: Vec<(String, f64, String)> = picture
            .growth
            .iter()
            .map(|p| {
                let what = format!("{}, {}, {}", size(p.bytes), count(p.files, "file"), count(p.rows, "record"));
                (format!("{}", p.snapshot), p.bytes as f64, format!("{} · {what}", p.time))
            })
            .collect();
        section(&mut out, "Growth over snapshots", &bars);
    }
    section(&mut out, "Files by size", &named(&picture.sizes, "file"));
    if let Some(key) = &picture.key {
        section(&mut out, &format!("Records by {} (estimated)", escape(key)), &named(&picture.keys, "record"));
    }
    out.push_str("</body></html>\n");
    out
}

fn named(bars: &[Bar], noun: &str) -> Vec<(String, f64, String)> {
    let bar = |bar: &Bar| (bar.name.clone(), bar.count, count(format!("{:.0}", bar.count), noun));
    bars.iter().map(bar).collect()
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

/// Bars with their names below: what each is, how high, and what more there is to say.
fn section(out: &mut String, title: &str, bars: &[(String, f64, String)]) {
    if bars.is_empty() {
        return;
    }
    let most = bars.iter().map(|bar| bar.1).fold(0.0, f64::max).max(1.0);
    let (height, step) = (160.0, WIDTH / bars.len() as f64);
    out.push_str(&format!("<h2>{title}</h2>\n<svg viewBox=\"0 0 {WIDTH} 200\" width=\"{WIDTH}\" role=\"img\">\n"));
    out.push_str(&format!("<line class=\"base\" x1=\"0\" x2=\"{WIDTH}\" y1=\"{height}\" y2=\"{height}\"/>\n"));
    for (at, (name, value, more)) in bars.iter().enumerate() {
        let (x, tall) = (step * at as f64, value / most * (height - 10.0));
        out.push_str(&format!(
            "<rect class=\"a\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{tall:.1}\" rx=\"2\"><title>{}</title></rect>\
             <text x=\"{:.1}\" y=\"{}\" text-anchor=\"end\" transform=\"rotate(-30 {:.1} {})\">{}</text>\n",
            x + 4.0,
            height - tall,
            (step - 8.0).max(2.0),
            escape(&format!("{name}: {more}")),
            x + step / 2.0,
            height + 16.0,
            x + step / 2.0,
            height + 16.0,
            escape(name)
        ));
    }
    out.push_str("</svg>\n");
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
