//! The binary as users run it, in an empty folder, judged by its output and its exit code.

mod compaction_jobs_cover_many_tables;
mod damaged_files_end_the_import;
mod demo;
mod errors_say_what_where_and_how;
mod history_is_named_compared_and_taken_back;
mod import_refuses_or_sets_aside_bad_rows;
mod imports_keep_digits_and_say_what_does_not_fit;
mod increments_of_two_processes_are_all_there;
mod killed_programs_lose_nothing;
mod maintenance_plans_asks_and_checks;
mod outputs_are_what_they_say;
mod partitions_are_named_as_they_are;
mod readme_tour;
mod rows_are_got_and_pictured;
mod run;
mod sessions_on_a_terminal;
mod tables_are_followed;
mod tables_live_from_create_to_drop;
mod the_book_runs;
mod the_error_index_is_in_step;
mod the_reference_is_in_step;
mod values_round_trip_in_every_format;
