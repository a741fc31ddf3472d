//! The JSON form of the analyses: its names are stable.
#![cfg(feature = "serde")]

use serde_json::{json, to_value};
use weft_indexing::{IndexingMap, Launch, MemoryModel, Tensor, Var, operand_utilization};

fn map(text: &str) -> IndexingMap {
    text.parse().expect("a map")
}

#[test]
fn utilization_has_stable_names() {
    let half = map("(d0) -> (d0 * 2), domain: d0 in [0, 4]");
    let operand = operand_utilization(&[half, IndexingMap::undefined()], &[10]).expect("ranks agree");
    let one = |n: u64| json!({ "least": n, "greatest": n });
    let expected = json!({
        "elements": 10, "used": one(5), "reads": one(5), "fewest_reads": one(0), "most_reads": one(1),
        "basis": { "code": "closed-form", "exact": true, "reason": "exact, in closed form" },
    });
    let found = to_value(&operand).expect("numbers and texts");
    assert_eq!(found["uses"][0], expected);
    // Beyond 64 bits a number is its digits.
    assert_eq!(found["union"]["reads"]["greatest"], json!(u128::MAX.to_string()));
    assert_eq!(found["union"]["basis"]["code"], json!("bounds"));
}

#[test]
fn coalescing_has_stable_names() {
    let reads = map("(th_x)[v] -> (th_x * 2 + v), domain: th_x in [0, 31], v in [0, 1]");
    let launch = Launch::of_thread(Var::Dim(0)).with_vector(Var::Range(0)).expect("another variable");
    let found = reads
        .coalescing(&Tensor::try_new(&[64], 4).expect("a tensor"), &launch, &MemoryModel::default())
        .expect("a possible launch");
    let expected = json!({
        "verdict": { "code": "coalesced", "reason": "coalesced" },
        "reads": {
            "best": 8, "worst": 8,
            "totals": { "known": { "requests": 1, "transactions": 8, "least_transactions": 8, "bytes": 256 } },
            "alignment": 256, "vector_width": 2, "bytes_per_lane": 8,
            "vector_limit": { "code": "extent", "reason": "more does not divide the extent of the vector variable" },
            "pattern": { "code": "contiguous", "reason": "the elements that a subgroup reads are adjacent" },
        },
        "block": [32],
        "strides": [
            { "variable": "d0", "name": "th_x", "code": "constant", "distance": 2, "period": null, "reason": "2" },
            { "variable": "s0", "name": "v", "code": "constant", "distance": 1, "period": null, "reason": "1" },
        ],
    });
    assert_eq!(to_value(&found).expect("numbers and texts"), expected);
    let outside = reads
        .coalescing(&Tensor::try_new(&[63], 4).expect("a tensor"), &launch, &MemoryModel::default())
        .expect("a possible launch");
    let outside = to_value(&outside).expect("numbers and texts");
    assert_eq!(outside["reads"], json!(null));
    assert_eq!(outside["verdict"]["reason"], json!("unknown, since the map may lead out of the shape"));
}
