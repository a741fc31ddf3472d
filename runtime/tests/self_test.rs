//! What the self-test finds on the adapter under test, and that devices are opened with what is kept of it.

use crate::support;
use weft_partition::DeviceKind;
use weft_runtime::{Answer, Cache, Device, DeviceOptions, SelfTest, Test};

/// A folder for a cache, removed when the test ends.
struct Folder(std::path::PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        Folder(std::env::temp_dir().join(format!("weft-self-test-{}-{name}", std::process::id())))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn opened(cache: &Cache) -> Device {
    let options = DeviceOptions::default().with_cache(Some(cache.clone()));
    Device::open(&support::selection(), &options).expect("it was opened before")
}

#[test]
fn nothing_that_kernels_count_on_fails() {
    let device = support::device();
    let tested = device.self_test().expect("the simplest kernel runs");
    println!("{tested}");
    let needed = [
        Test::NanArithmetic,
        Test::NanBits,
        Test::OrderProtected,
        Test::WorkgroupBarrier,
        Test::Atomics,
        Test::AtomicExchange,
        Test::I64,
        Test::F64,
        Test::AtomicsI64,
    ];
    for test in needed {
        assert!(!tested.answer(test).fails(), "{}: {}", test.name(), tested.answer(test).found());
    }
    let keeps = [Test::DenormalsKept, Test::DenormalsFlushed].map(|test| tested.answer(test).holds());
    assert!(keeps != [true, true], "subnormal numbers are one or the other");
    assert_eq!(tested.to_string().parse(), Ok(tested.clone()));
    // It only knows better.
    let mut found = device.target().clone();
    tested.apply(&mut found);
    // The order of floats is nothing that an adapter tells of.
    let keeps_order = std::mem::replace(&mut found.features.no_contraction, device.target().features.no_contraction);
    assert_eq!(keeps_order, tested.answer(Test::NoContraction).holds());
    assert_eq!((found.check(), found.excess_over(device.target())), (Ok(()), None));
    if device.target().kind == DeviceKind::Software {
        assert_eq!(found, *device.target(), "what is said of software adapters is true of this one");
        assert_eq!(keeps_order, cfg!(feature = "no-contraction"));
    }
}

#[test]
fn what_is_kept_is_what_devices_are_opened_with() {
    let folder = Folder::new("opened");
    let cache = Cache::at(&folder.0);
    let device = support::device();
    assert_eq!(opened(&cache).target(), device.target(), "nothing is kept yet");
    let tested = device.self_test().expect("the simplest kernel runs");
    let failing: Vec<String> = tested
        .to_string()
        .lines()
        .map(|line| match line.split_once(": ") {
            Some((name @ ("products-apart" | "division" | "workgroup-barrier" | "subgroup-collectives"), _)) => {
                format!("{name}: fails: so it is said here\n")
            }
            _ => format!("{line}\n"),
        })
        .collect();
    let failing: SelfTest = failing.concat().parse().expect("it is the text of a self-test");
    assert_eq!(failing.answer(Test::Division), &Answer::Fails("so it is said here".to_owned()));
    failing.save(&cache, device.info()).expect("the folder can be written");
    assert_eq!(SelfTest::load(&cache, device.info()), Some(failing));
    let corrected = opened(&cache);
    for target in [corrected.target(), &corrected.info().target] {
        assert!(target.arithmetic.contraction && !target.arithmetic.exact_division && target.faults.barriers);
        assert_eq!((target.features.subgroup, target.check()), (None, Ok(())));
    }
    // Another driver is another matter, and so is another adapter.
    let mut other = device.info().clone();
    other.driver += " of tomorrow";
    assert_eq!(SelfTest::load(&cache, &other), None);
    let mut other = device.info().clone();
    other.vendor += 1;
    assert_eq!(SelfTest::load(&cache, &other), None);
    assert_eq!(cache.clear(), Ok(1));
    assert_eq!(opened(&cache).target(), device.target());
}
