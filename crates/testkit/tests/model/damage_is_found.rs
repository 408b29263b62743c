//! A bit that flips in a file with a checksum is found: reads and compactions say `Corrupt` or are right, and never return or tell a
//! wrong row. Lookup files are made anew from their data file.

use bytes::Bytes;
use futures::TryStreamExt;
use linn_core::seam::Storage;
use linn_format::ErrorKind;
use linn_testkit::compare::{Rules, assert_same};
use linn_testkit::render;

use crate::drive::block_on;
use crate::life::{Life, ROUNDS};

const OPTIONS: [(&str, &str); 4] = [
    ("changelog-producer", "lookup"),
    ("deletion-vectors.enabled", "true"),
    ("lookup.remote-file.enabled", "true"),
    // Marked rows stay in their files.
    ("target-file-size", "1 kb"),
];

/// Rounds after which vectors are in use.
const AGE: i64 = 4;

async fn aged(rounds: i64) -> Life {
    let life = Life::new(&OPTIONS);
    for number in 0..rounds {
        life.live(number).await;
    }
    life
}

/// The same table with one bit of one file flipped.
async fn flipped(life: &Life, path: &str, byte: usize, bit: u8) -> Life {
    let life = life.copy().await;
    let mut bytes = life.store.read(path, None).await.unwrap().to_vec();
    bytes[byte] ^= 1 << bit;
    life.store.put(path, Bytes::from(bytes)).await.unwrap();
    life
}

#[test]
fn in_deletion_vectors() {
    block_on(async {
        let life = aged(AGE).await;
        let expected = life.before(AGE);
        let (mut found, mut flips) = (0, 0);
        let table = life.table().await;
        let plan = table.scan().plan().await.unwrap();
        assert!(plan.splits.iter().any(|s| s.deletion_files.iter().any(Option::is_some)), "no vector is in use");
        let vectors: Vec<String> = life.store.paths().into_iter().filter(|p| p.contains("/index/index-")).collect();
        for path in vectors {
            let len = life.store.read(&path, None).await.unwrap().len();
            for byte in 0..len {
                let life = flipped(&life, &path, byte, (byte % 8) as u8).await;
                let table = life.table().await;
                let read = table.read().build().unwrap();
                let rows = async {
                    let mut rows = Vec::new();
                    for split in table.scan().plan().await?.splits {
                        let batches: Vec<_> = read.stream(&split).await?.try_collect().await?;
                        rows.extend(render::rows(&batches, &life.schema.fields));
                    }
                    Ok::<_, linn_format::Error>(rows)
                };
                flips += 1;
                match rows.await {
                    Ok(rows) => {
                        assert_same(&format!("{path}, byte {byte}"), &expected, &rows, &Rules::of(&life.schema))
                    }
                    Err(e) => {
                        assert_eq!(e.kind(), ErrorKind::Corrupt, "{path}, byte {byte}: {e}");
                        found += 1;
                    }
                }
            }
        }
        assert!(found > 0, "none of {flips} flips was found");
    });
}

#[test]
fn in_lookup_files() {
    block_on(async {
        let life = aged(2).await;
        let lookups: Vec<String> = life.store.paths().into_iter().filter(|p| p.ends_with(".lookup")).collect();
        assert!(!lookups.is_empty());
        for path in lookups {
            let len = life.store.read(&path, None).await.unwrap().len();
            for byte in (0..len).step_by(5) {
                let life = flipped(&life, &path, byte, (byte % 8) as u8).await;
                for number in 2..ROUNDS {
                    life.live(number).await;
                }
                life.finish(&format!("{path}, byte {byte}")).await;
            }
        }
    });
}
