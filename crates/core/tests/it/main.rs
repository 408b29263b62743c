//! Scenarios over whole tables: cases that others met, several processes, a real disk, a real object store. One scenario a file.

mod a_writer_outlives_lost_compactions;
mod case;
mod every_commit_of_many_processes_is_there_once;
mod killed_committers_lose_nothing;
mod metadata;
mod s3_keeps_every_commit;
mod worker;
