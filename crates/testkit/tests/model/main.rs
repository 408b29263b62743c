//! Tables through the public API against the row model of `linn_testkit::model`: whatever is written, compacted, restarted and
//! read, the answer is the model's. One scenario a file. `PROPTEST_CASES` asks for more cases than the few seconds of a
//! usual run.

mod columns_are_aggregated;
mod damage_is_found;
mod difference;
mod drive;
mod every_timing_gives_one_answer;
mod faults_between_changelog_and_commit;
mod key;
mod killed_in_mid_compaction;
mod life;
mod read;
mod rows_fill_up;
mod table;
mod the_first_row_stays;
mod the_last_row_stays;
