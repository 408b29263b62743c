//! `listagg` compares whole tokens (cases: M11).

use crate::case::Case;

async fn check(options: &[(&str, &str)], commits: &[&str], expected: &str) {
    let all = [&[("merge-engine", "aggregation"), ("fields.v.aggregate-function", "listagg")], options].concat();
    let mut case = Case::new("k INT, v STRING", "k", &all).await;
    for row in commits {
        case.commit(&[row]).await;
    }
    assert_eq!(case.rows().await, [format!("1,{expected}")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn regress_distinct_matches_no_parts_of_tokens() {
    let distinct = [("fields.v.distinct", "true")];
    check(&distinct, &["+I(1,'north,south')", "+I(1,'nor,east')"], "north,south,nor,east").await;
    check(&distinct, &["+I(1,NULL)", "+I(1,'a,a')"], "a,a").await;
    check(&distinct, &["+I(1,'a')", "+I(1,'')"], "a").await;
    check(&[("fields.v.list-agg-delimiter", "; ")], &["+I(1,'a')", "+I(1,'a')"], "a; a").await;
}
