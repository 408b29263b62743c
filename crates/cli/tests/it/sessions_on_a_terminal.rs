//! The session on a terminal: what stands on the screen after keys were pressed.

use std::io::{Read, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use portable_pty::{Child, CommandBuilder, MasterPty, NativePtySystem, PtySize, PtySystem};

use crate::run::Place;

/// A terminal of 24 lines and 80 columns with a session in it.
struct Terminal {
    screen: Arc<Mutex<vt100::Parser>>,
    keys: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    _master: Box<dyn MasterPty + Send>,
}

impl Terminal {
    fn open(place: &Place, args: &[&str], variables: &[(&str, &str)]) -> Self {
        let size = PtySize { rows: 24, cols: 80, pixel_width: 0, pixel_height: 0 };
        let pair = NativePtySystem::default().openpty(size).unwrap();
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_linn"));
        command.args(args);
        command.cwd(place.path());
        for name in ["XDG_DATA_HOME", "XDG_CONFIG_HOME", "RUST_LOG", "LINN_WAREHOUSE", "LINN_CONFIG", "NO_COLOR"] {
            command.env_remove(name);
        }
        let fixed = [("HOME", place.path().to_str().unwrap()), ("TERM", "xterm-256color"), ("LINN_PAGER", "")];
        for (name, value) in fixed.iter().chain(variables) {
            command.env(name, value);
        }
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let screen = Arc::new(Mutex::new(vt100::Parser::new(24, 80, 1000)));
        let (mut reader, seen) = (pair.master.try_clone_reader().unwrap(), Arc::clone(&screen));
        std::thread::spawn(move || {
            let mut bytes = [0u8; 4096];
            while let Ok(read @ 1..) = reader.read(&mut bytes) {
                seen.lock().unwrap().process(&bytes[..read]);
            }
        });
        let keys = pair.master.take_writer().unwrap();
        Self { screen, keys, child, _master: pair.master }
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    fn text(&self) -> String {
        self.screen.lock().unwrap().screen().contents()
    }

    /// Waits until the screen has a text; what it has then. Gives up only after what no machine takes.
    #[track_caller]
    fn wait(&self, what: &str) -> String {
        for _ in 0..1500 {
            let text = self.text();
            if text.contains(what) {
                return text;
            }
            std::thread::park_timeout(Duration::from_millis(20));
        }
        panic!("{what:?} is not on the screen:\n{}", self.text());
    }

    /// Runs a line, and gives the screen once the next prompt is there.
    #[track_caller]
    fn run(&mut self, line: &str, shows: &str) -> String {
        self.press(&format!("{line}\r"));
        self.wait(shows)
    }

    fn close(mut self) {
        self.press("\x15\\q\r");
        assert!(self.child.wait().unwrap().success());
    }
}

/// What was written last, from a line on that begins so.
fn from<'t>(screen: &'t str, start: &str) -> Vec<&'t str> {
    let lines: Vec<&str> = screen.lines().map(str::trim_end).collect();
    let at = lines.iter().rposition(|line| line.starts_with(start)).unwrap_or_else(|| panic!("{start}: {screen}"));
    lines[at..].to_vec()
}

fn place() -> Place {
    let place = Place::new();
    place.ok(&["sql", "-c", "CREATE TABLE orders (id INT, note STRING, PRIMARY KEY (id)) WITH ('bucket' = '1')"]);
    place.ok(&["sql", "-c", "INSERT INTO orders VALUES (1, 'NULL'), (2, NULL), (3, 'x')"]);
    place
}

#[test]
fn statements_span_lines_and_nulls_differ_from_the_word() {
    let place = place();
    let mut terminal = Terminal::open(&place, &["sql", "--no-color"], &[]);
    terminal.wait("default> ");
    terminal.run("\\timing off", "Timing is off.");
    let screen = terminal.run("SELECT *\rFROM orders\rORDER BY id;", "3 rows");
    let expected = [
        "default> SELECT *",
        "      -> FROM orders",
        "      -> ORDER BY id;",
        "┌────┬────────┐",
        "│ id │ note   │",
        "├────┼────────┤",
        "│  1 │ 'NULL' │",
        "│  2 │ NULL   │",
        "│  3 │ x      │",
        "└────┴────────┘",
        "3 rows",
    ];
    assert_eq!(from(&screen, "default> SELECT *")[..expected.len()], expected, "{screen}");
    let screen = terminal.run("SELECT * FROM orders WHERE id = 3 \\gx", "1 row");
    assert!(screen.contains("── 1 ──\nid    3\nnote  x\n1 row"), "{screen}");
    terminal.close();
}

#[test]
fn commands_show_what_there_is() {
    let place = place();
    let mut terminal = Terminal::open(&place, &["sql", "--no-color"], &[]);
    terminal.wait("default> ");
    let screen = terminal.run("\\d orders", "snapshot  1");
    assert!(screen.contains("│ INT NOT NULL │") && !screen.contains("Utf8"), "{screen}");
    let screen = terminal.run("\\d orders$snapshots", "commit_user");
    assert!(screen.contains("BIGINT") && !screen.contains("Int64"), "{screen}");
    let screen = terminal.run("\\d ordres", "did you mean orders?");
    assert!(!screen.contains("LIMIT 0"), "{screen}");
    let screen = terminal.run("\\dt ord*", "│ orders │");
    assert!(screen.contains("│ table  │"), "{screen}");
    let screen = terminal.run("\\timig", "did you mean '\\timing'?");
    assert!(screen.contains("error[LINN-200]: unknown command '\\timig'"), "{screen}");
    let screen = terminal.run(".help", "\\watch [SECONDS]");
    assert!(screen.contains(".quit"), "{screen}");
    terminal.run("CREATE DATABASE lake; USE lake;", "lake> ");
    terminal.run("\\o out.csv", "Results go to out.csv");
    terminal.run("\\f csv", "Format is csv.");
    terminal.run("SELECT 1 AS a, 'x' AS b;", "1 row");
    terminal.run("\\o", "lake> ");
    terminal.close();
    assert_eq!(place.read("out.csv"), "a,b\n1,x\n");
}

#[test]
fn tab_completes_and_history_lasts() {
    let place = place();
    let mut terminal = Terminal::open(&place, &["sql", "--no-color"], &[]);
    terminal.wait("default> ");
    // Names are read beside the session: the first key presses may come too early.
    terminal.run("SELECT 'ready' AS r;", "│ ready │");
    terminal.press("SELECT count(*) AS n FROM ord\t");
    let screen = terminal.wait("FROM ord");
    if !screen.contains("FROM orders") {
        terminal.wait("default> SELECT count(*)");
        terminal.press("\t");
    }
    terminal.wait("FROM orders");
    terminal.run(";", "│ 3 │");
    terminal.close();
    let mut terminal = Terminal::open(&place, &["sql", "--no-color"], &[]);
    terminal.wait("default> ");
    terminal.press("\x1b[A\x1b[A");
    terminal.wait("SELECT count(*) AS n FROM orders;");
    terminal.close();
}

#[test]
fn pasted_lines_are_one_statement() {
    let place = place();
    let mut terminal = Terminal::open(&place, &["sql", "--no-color"], &[]);
    terminal.wait("default> ");
    terminal.press("\x1b[200~SELECT id\nFROM orders\nWHERE id = 2;\x1b[201~");
    terminal.run("", "│  2 │");
    terminal.close();
}

#[test]
fn ctrl_c_cancels_the_query_only() {
    let place = place();
    let mut terminal = Terminal::open(&place, &["sql", "--no-color", "--no-progress"], &[]);
    terminal.wait("default> ");
    let slow = "SELECT count(*) FROM generate_series(1, 10000000) a, generate_series(1, 1000000) b WHERE a.value % 7 = b.value;";
    terminal.press(&format!("{slow}\r"));
    terminal.wait("b.value;");
    // Signals come to the foreground once the line editor has given the terminal back.
    for _ in 0..200 {
        terminal.press("\x03");
        std::thread::park_timeout(Duration::from_millis(50));
        if terminal.text().contains("Cancelled.") {
            break;
        }
    }
    terminal.wait("Cancelled.");
    terminal.run("SELECT 40 + 2 AS n;", "│ 42 │");
    terminal.close();
}

#[test]
fn results_fold_and_are_limited() {
    let place = Place::new();
    let columns: Vec<String> = (0..40).map(|at| format!("{at} AS column_{at}")).collect();
    let mut terminal = Terminal::open(&place, &["--no-color", "sql"], &[]);
    terminal.wait("default> ");
    place.write("wide.sql", &format!("SELECT {};", columns.join(", ")));
    let screen = terminal.run("\\i wide.sql", "columns are not shown");
    assert!(screen.contains("│ … │") && screen.contains("column_39"), "{screen}");
    assert!(screen.lines().all(|line| line.chars().count() <= 80), "{screen}");
    terminal.run("\\maxrows 5", "default> ");
    let screen = terminal.run("SELECT value FROM generate_series(1, 3000000);", "more rows");
    assert!(screen.contains("… 2,999,995 more rows, 3,000,000 in all"), "{screen}");
    terminal.close();
}

#[test]
fn colours_obey() {
    let place = place();
    let colours = |variables: &[(&str, &str)]| {
        let mut terminal = Terminal::open(&place, &["sql"], variables);
        terminal.wait("default> ");
        terminal.run("SELECT 'x' AS t;", "│ x │");
        let screen = terminal.screen.lock().unwrap().screen().clone();
        let painted = (0..24).flat_map(|row| (0..80).map(move |column| (row, column))).any(|(row, column)| {
            screen.cell(row, column).is_some_and(|cell| cell.fgcolor() != vt100::Color::Default || cell.bold())
        });
        terminal.close();
        painted
    };
    assert!(colours(&[]));
    assert!(!colours(&[("NO_COLOR", "1")]));
    assert!(!colours(&[("LINN_THEME", "none")]));
}
