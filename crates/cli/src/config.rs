//! Catalog options from a YAML file, the environment and flags; later ones win.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use linn::{Error, Result};

use crate::args::Global;

/// Where a setting comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Linn's own default.
    Default,
    /// A configuration file.
    File(PathBuf),
    /// An environment variable.
    Environment(String),
    /// A flag.
    Flag,
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path) => write!(f, "file {}", path.display()),
            Self::Environment(name) => write!(f, "environment {name}"),
            Self::Flag => f.write_str("flag"),
        }
    }
}

/// Settings with their origins, in key order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Config {
    settings: BTreeMap<String, (String, Origin)>,
}

/// Environment variables `LINN_OPT_<KEY>` set option `<key>`: `__` stands for `-`, `_` for `.`, in lower case.
const ENV_PREFIX: &str = "LINN_OPT_";

impl Config {
    /// Reads file, environment and flags.
    ///
    /// # Errors
    /// `Invalid` for a file that is not a YAML map or a flag without `=`; `NotFound` for a file named by the user
    /// that is not there.
    pub(crate) fn load(global: &Global) -> Result<Self> {
        let mut config = Self::default();
        config.put("warehouse", "./warehouse", Origin::Default);
        config.put("metastore", "filesystem", Origin::Default);
        if let Some(path) = &global.config {
            config.read_file(path)?;
        } else if let Some(path) = default_files().into_iter().find(|p| p.is_file()) {
            config.read_file(&path)?;
        }
        for (name, value) in std::env::vars() {
            if let Some(rest) = name.strip_prefix(ENV_PREFIX) {
                let key = rest.to_lowercase().replace("__", "-").replace('_', ".");
                config.put(&key, &value, Origin::Environment(name.clone()));
            }
        }
        if let Some(warehouse) = &global.warehouse {
            let origin = if std::env::var("LINN_WAREHOUSE").is_ok_and(|v| v == *warehouse) {
                Origin::Environment("LINN_WAREHOUSE".into())
            } else {
                Origin::Flag
            };
            config.put("warehouse", warehouse, origin);
        }
        for pair in &global.set {
            let (key, value) = key_value(pair)?;
            config.put(key, value, Origin::Flag);
        }
        Ok(config)
    }

    fn put(&mut self, key: &str, value: &str, origin: Origin) {
        self.settings.insert(key.to_owned(), (value.to_owned(), origin));
    }

    fn read_file(&mut self, path: &Path) -> Result<()> {
        let text = std::fs::read_to_string(path).map_err(|e| {
            Error::not_found("configuration file cannot be read").with("path", path.display()).with_source(e)
        })?;
        let values: BTreeMap<String, serde_yaml_ng::Value> = serde_yaml_ng::from_str(&text).map_err(|e| {
            Error::invalid("configuration file is not a YAML map of keys to values")
                .with("path", path.display())
                .with_source(e)
        })?;
        for (key, value) in values {
            self.read_value(path, &key, &value)?;
        }
        Ok(())
    }

    fn read_value(&mut self, path: &Path, key: &str, value: &serde_yaml_ng::Value) -> Result<()> {
        use serde_yaml_ng::Value;
        let text = match value {
            Value::String(s) => s.clone(),
            Value::Bool(b) => b.to_string(),
            Value::Number(n) => n.to_string(),
            Value::Mapping(map) => {
                for (inner, value) in map {
                    let Value::String(inner) = inner else {
                        return Err(Error::invalid("key is not text").with("path", path.display()).with("key", key));
                    };
                    self.read_value(path, &format!("{key}.{inner}"), value)?;
                }
                return Ok(());
            }
            _ => {
                return Err(Error::invalid("value is neither text, number, boolean nor map")
                    .with("path", path.display())
                    .with("key", key));
            }
        };
        self.put(key, &text, Origin::File(path.to_owned()));
        Ok(())
    }

    /// Keys, values and origins in key order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str, &Origin)> {
        self.settings.iter().map(|(k, (v, o))| (k.as_str(), v.as_str(), o))
    }

    /// The value of a key.
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.settings.get(key).map(|(v, _)| v.as_str())
    }
}

/// Splits `KEY=VALUE`.
///
/// # Errors
/// `Invalid` without a `=` or with an empty key.
pub(crate) fn key_value(pair: &str) -> Result<(&str, &str)> {
    match pair.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim(), value.trim())),
        _ => Err(Error::invalid(format!("{pair:?} is not of the form KEY=VALUE"))),
    }
}

fn default_files() -> Vec<PathBuf> {
    let mut files = vec![PathBuf::from("linn.yaml")];
    let home = std::env::var_os("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|h| PathBuf::from(h).join(".config")));
    files.extend(home.map(|h| h.join("linn").join("config.yaml")));
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_win_over_files() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("c.yaml");
        std::fs::write(&path, "warehouse: /from/file\ns3:\n  endpoint: http://x\n  path-style-access: true\n").unwrap();
        let global = Global {
            warehouse: Some("/from/flag".into()),
            config: Some(path),
            set: vec!["s3.endpoint=http://y".into()],
            output: crate::args::OutputFormat::Table,
            max_rows: None,
            no_pager: true,
            decimal_as: crate::output::Decimals::Number,
            no_progress: true,
            no_color: true,
            quiet: false,
            verbose: 0,
        };
        let config = Config::load(&global).unwrap();
        assert_eq!(config.get("warehouse"), Some("/from/flag"));
        assert_eq!(config.get("s3.endpoint"), Some("http://y"));
        assert_eq!(config.get("s3.path-style-access"), Some("true"));
    }

    #[test]
    fn pairs_need_a_key() {
        assert!(key_value("=x").is_err());
        assert!(key_value("x").is_err());
        assert_eq!(key_value("a = b=c").unwrap(), ("a", "b=c"));
    }
}
