//! The S3 server of the tests: a loopback port of its own, data in a folder of its own, both gone when the run ends.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::exec;

/// A running server; dropping it stops the process and removes its data.
pub(crate) struct S3 {
    child: Child,
    address: SocketAddr,
    home: PathBuf,
}

impl S3 {
    pub(crate) const BUCKET: &str = "linn";
    pub(crate) const ACCESS_KEY: &str = "linn-test";
    pub(crate) const SECRET_KEY: &str = "linn-test-secret";

    /// Starts the server and waits until it answers.
    pub(crate) fn start(program: &Path) -> Result<Self> {
        let home = std::env::temp_dir().join(format!("linn-s3-{}", std::process::id()));
        exec::fresh(&home)?;
        // The port is free now and taken a moment later: another process can win it in between, hence the tries.
        for _ in 0..5 {
            let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
            let mut server = Self { child: spawn(program, &home, address)?, address, home: home.clone() };
            if server.answers()? {
                return Ok(server);
            }
        }
        bail!("the S3 server does not start: see {}", home.join("log").display());
    }

    pub(crate) fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    fn answers(&mut self) -> Result<bool> {
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_secs(30) {
            if self.child.try_wait()?.is_some() {
                return Ok(false);
            }
            if ping(self.address).is_ok() {
                return Ok(true);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(false)
    }
}

impl Drop for S3 {
    fn drop(&mut self) {
        // Best effort: the process may be gone already, and the folder is a temporary one.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.home);
    }
}

fn spawn(program: &Path, home: &Path, address: SocketAddr) -> Result<Child> {
    let (data, meta) = (home.join("data"), home.join("meta"));
    fs::create_dir_all(data.join(S3::BUCKET))?;
    fs::create_dir_all(&meta)?;
    let log = File::create(home.join("log"))?;
    Command::new(program)
        .args(["--quiet", "--port", &address.to_string(), "posix", "--sidecar"])
        .args([&meta, &data])
        .env("ROOT_ACCESS_KEY", S3::ACCESS_KEY)
        .env("ROOT_SECRET_KEY", S3::SECRET_KEY)
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .spawn()
        .with_context(|| format!("cannot start {}", program.display()))
}

fn ping(address: SocketAddr) -> Result<()> {
    let mut stream = TcpStream::connect_timeout(&address, Duration::from_millis(500))?;
    stream.set_read_timeout(Some(Duration::from_secs(2)))?;
    stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
    let mut first = [0u8; 4];
    stream.read_exact(&mut first)?;
    Ok(())
}
