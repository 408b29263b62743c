//! `ignore-delete` looks at the kind that `rowkind.field` gives (cases: D1).

use crate::case::Case;

#[tokio::test(flavor = "multi_thread")]
async fn regress_a_kind_from_a_column_is_ignored_too() {
    let options = [("rowkind.field", "kind"), ("ignore-delete", "true")];
    let mut case = Case::new("k INT, v STRING, kind STRING", "k", &options).await;
    case.commit(&["+I(1,A,'+I')", "+I(1,A,'-D')"]).await;
    assert_eq!(case.rows().await, ["1,A,+I"]);
    case.commit(&["+I(1,A,'-D')"]).await;
    case.compact(true).await;
    assert_eq!(case.rows().await, ["1,A,+I"]);
}
