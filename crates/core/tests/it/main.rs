//! Scenarios that need several processes, a real disk, or a real object store. One scenario a file.

mod every_commit_of_many_processes_is_there_once;
mod killed_committers_lose_nothing;
mod metadata;
mod s3_keeps_every_commit;
mod worker;
