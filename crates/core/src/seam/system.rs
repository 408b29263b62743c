//! The machine's own clock and randomness: the only place that may ask for either.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use chrono::Offset;

use super::{Clock, Ids};

/// The machine's wall clock and timers.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

#[async_trait]
impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the Clock seam")]
    fn now_millis(&self) -> i64 {
        let now = SystemTime::now();
        match now.duration_since(UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
            Err(before) => i64::try_from(before.duration().as_millis()).map_or(i64::MIN, |millis| -millis),
        }
    }

    fn offset_millis_at(&self, instant: i64) -> i64 {
        let time = chrono::DateTime::from_timestamp_millis(instant).unwrap_or_default();
        i64::from(time.with_timezone(&chrono::Local).offset().fix().local_minus_utc()) * 1000
    }

    #[expect(clippy::disallowed_methods, reason = "this is the Clock seam")]
    async fn sleep(&self, millis: u64) {
        tokio::time::sleep(Duration::from_millis(millis)).await;
    }
}

/// Random UUIDs and jitter.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemIds;

impl Ids for SystemIds {
    #[expect(clippy::disallowed_methods, reason = "this is the Ids seam")]
    fn uuid(&self) -> String {
        uuid::Uuid::new_v4().to_string()
    }

    #[expect(clippy::disallowed_methods, reason = "this is the Ids seam")]
    fn jitter(&self) -> f64 {
        rand::random::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uuids_differ_and_jitter_stays_below_one() {
        assert_ne!(SystemIds.uuid(), SystemIds.uuid());
        assert_eq!(SystemIds.uuid().len(), 36);
        assert!((0..1000).all(|_| (0.0..1.0).contains(&SystemIds.jitter())));
    }

    #[test]
    fn the_clock_is_in_this_century() {
        assert!(SystemClock.now_millis() > 1_700_000_000_000);
        assert!(SystemClock.offset_millis_at(SystemClock.now_millis()).abs() <= 14 * 3_600_000);
    }
}
