//! Flattening keeps what a kernel computes: both are run on memories of symbols, one invocation at a time.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::support::machine::invocation;
use crate::support::{IN_LOOPS, Stages, all_stages, in_loops, on_all_cores, verified};
use std::fs;
use weft_partition::Fused;

/// Some positions, the first and the last among them.
fn positions(count: i64, samples: i64) -> impl Iterator<Item = i64> {
    let step = (count / samples).max(1);
    (0..count).filter(move |position| position % step == 0 || position + 1 == count)
}

/// What is made of a module for a device in software.
fn made_of(name: &str, fused: Fused) -> Vec<Stages> {
    all_stages(&in_loops(fused)).unwrap_or_else(|findings| panic!("{name}: {findings}"))
}

fn check(name: &str, made: &[Stages], samples: i64) -> usize {
    for made in made {
        assert_eq!(made.kernel.entry.extents, made.flat.entry.extents);
        let launched: i64 = made.kernel.entry.extents.iter().product();
        for number in positions(launched, samples) {
            let expected = invocation(&made.kernel, number);
            let found = invocation(&made.flat, number);
            assert_eq!(found, expected, "{name}: {} at {number}\n{}", made.kernel.name, made.flat);
        }
    }
    made.len()
}

#[test]
fn the_corpus_computes_the_same_flat() {
    let kernels: usize = on_all_cores(&IN_LOOPS, |(name, made)| check(name, made, 24)).into_iter().sum();
    assert!(kernels > 200, "{kernels}");
}

#[test]
fn what_moves_elements_computes_the_same_flat() {
    for name in ["argmax", "concatenate", "diamond", "mask", "nothing", "outputs", "pad"] {
        let path = format!("{}/tests/snapshots/{name}.hlo", env!("CARGO_MANIFEST_DIR"));
        check(name, &made_of(name, verified(&fs::read_to_string(path).unwrap())), i64::MAX);
    }
    let moves = "HloModule moves
        ENTRY main {
            x = f32[6,4,5] parameter(0)
            y = f32[5,4,6] transpose(x), dimensions={2,1,0}
            a = f32[10,12] reshape(y)
            b = f32[10,12] reverse(a), dimensions={0}
            c = f32[4,6] slice(b), slice={[0:10:3], [0:12:2]}
            v = f32[] constant(3)
            d = f32[9,4] pad(c, v), padding=2_0_1x-1_-1
            e = f32[9,4,2] broadcast(d), dimensions={0,1}
            f = f32[3,24] reshape(e)
            g = f32[24,3] transpose(f), dimensions={1,0}
            h = f32[2,36] reshape(g)
            i = f32[4,36] concatenate(h, h), dimensions={0}
            ROOT j = f32[144] reshape(i)
        }";
    check("moves", &made_of("moves", verified(moves)), i64::MAX);
}
