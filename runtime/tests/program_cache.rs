//! Programs that are kept on disk.

use crate::support::{self, ROUNDS};
use std::path::PathBuf;
use weft_hlo::ir::Literal;
use weft_partition::Target;
use weft_runtime::{Cache, Executable, Options};

/// A folder of its own for each test, removed with it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("weft-programs-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Folder(path)
    }

    fn files(&self) -> Vec<PathBuf> {
        std::fs::read_dir(&self.0).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_program_that_was_kept_is_the_one_that_was_compiled() {
    let folder = Folder::new("kept");
    let cache = Cache::at(&folder.0);
    let device = support::device();
    let module = support::module(ROUNDS);
    let compile = |target: &Target, options: &Options| cache.compile(&module, target, options).expect("it compiles");
    let options = Options::default();
    let [first, second] = [compile(device.target(), &options), compile(device.target(), &options)];
    assert_eq!((first.is_found, second.is_found), (false, true));
    assert_eq!(first.program.text(), second.program.text());
    for (compiled, kept) in first.program.shaders().iter().zip(second.program.shaders()) {
        assert_eq!(
            (&compiled.source, compiled.proofs(), &compiled.bindings),
            (&kept.source, kept.proofs(), &kept.bindings)
        );
        assert_eq!(format!("{:?}", compiled.info()), format!("{:?}", kept.info()));
    }
    let input = Literal::array([64], (0u8..64).map(f32::from).collect::<Vec<f32>>());
    let [first, second] = [first, second].map(|cached| {
        let executable = Executable::new(&device, cached.program).unwrap_or_else(|error| panic!("{error}"));
        executable.run(std::slice::from_ref(&input)).unwrap_or_else(|error| panic!("{error}"))
    });
    assert_eq!(first, second);
    // Whatever else it is compiled with, it is another program.
    assert!(!compile(&Target::default().with(|target| target.max_storage_buffers = 4), &options).is_found);
    assert!(!compile(device.target(), &Options { optimize: false, ..Options::default() }).is_found);
    assert!(compile(device.target(), &options).is_found);
    let entries = cache.entries().expect("the folder can be read");
    assert!(entries.len() == 3 && entries.iter().all(|entry| entry.kind == "program"));
    assert!(entries.iter().all(|entry| entry.key.as_ref().is_some_and(|key| key.starts_with("rounds, "))));
    assert_eq!(cache.clear(), Ok(3));
}

#[test]
fn what_is_damaged_is_compiled_again_and_replaced() {
    let folder = Folder::new("damaged");
    let cache = Cache::at(&folder.0);
    let module = support::entry("x = f32[40] parameter(0)\nROOT y = f32[40] negate(x)");
    let compile = || cache.compile(&module, &Target::default(), &Options::default()).expect("it compiles");
    let text = compile().program.text();
    let file = folder.files().pop().expect("it is kept");
    let whole = std::fs::read(&file).expect("the folder is ours");
    let damages: [Vec<u8>; 4] = [
        Vec::new(),
        whole[..whole.len() / 2].to_vec(),
        whole.iter().enumerate().map(|(at, byte)| if at == whole.len() / 3 { byte ^ 4 } else { *byte }).collect(),
        b"something else".to_vec(),
    ];
    for damaged in damages {
        std::fs::write(&file, damaged).expect("the folder is ours");
        let again = compile();
        assert!(!again.is_found && again.program.text() == text);
        assert!(compile().is_found, "it was replaced");
    }
    // What is refused is refused each time.
    let wrong = support::entry("x = f32[100000000] parameter(0)\nROOT y = f32[100000000] add(x, x)");
    for _ in 0..2 {
        let refused = cache.compile(&wrong, &Target::default(), &Options::default());
        assert_eq!(refused.expect_err("it is too large").code(), "RUN001");
    }
}

#[test]
fn large_programs_and_folders_of_others_are_left_alone() {
    let folder = Folder::new("left");
    let module = support::entry("x = f32[40] parameter(0)\nROOT y = f32[40] negate(x)");
    let found = |cache: &Cache| {
        let compile = || cache.compile(&module, &Target::default(), &Options::default()).expect("it compiles");
        [compile(), compile()].map(|cached| cached.is_found)
    };
    assert_eq!(found(&Cache::at(&folder.0).with_max_bytes(1000)), [false, false]);
    assert!(folder.files().is_empty());
    assert_eq!(found(&Cache::at(&folder.0)), [false, true]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &PathBuf| std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
        assert_eq!(mode(&folder.0), 0o700, "a new folder is the user's alone");
        std::fs::set_permissions(&folder.0, std::fs::Permissions::from_mode(0o777)).expect("the folder is ours");
        assert_eq!(found(&Cache::at(&folder.0)), [false, false]);
    }
    let file = folder.0.join("file");
    std::fs::create_dir_all(&folder.0).and_then(|()| std::fs::write(&file, "")).expect("the folder is ours");
    assert_eq!(found(&Cache::at(file.join("in it"))), [false, false], "that nothing can be kept is no error");
}
