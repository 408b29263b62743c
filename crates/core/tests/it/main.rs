//! Scenarios over whole tables: cases that others met, several processes, a real disk, a real object store. One scenario a file.

mod a_refused_row_leaves_the_writer_usable;
mod a_stream_goes_on_from_any_position;
mod a_stream_starts_where_it_is_told;
mod a_stream_tells_changes;
mod a_stream_wakes_with_a_commit;
mod a_writer_outlives_lost_compactions;
mod answers_do_not_depend_on_when_compaction_ran;
mod case;
mod definitions_are_refused_when_made;
mod deletes_are_ignored_when_asked;
mod every_commit_of_many_processes_is_there_once;
mod first_row_keeps_the_first;
mod follow;
mod full_compactions_come_due;
mod incremental_reads;
mod killed_committers_lose_nothing;
mod later_snapshots_win;
mod listagg_joins_tokens;
mod metadata;
mod options_others_count_on;
mod order_of_records;
mod readers_are_one_consumer;
mod s3_keeps_every_commit;
mod views_and_limits_of_compaction;
mod what_is_below_the_merge_changes_no_answer;
mod worker;
