use super::*;

/// A folder of its own for each test, removed with it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("weft-cache-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn keys(cache: &Cache) -> Vec<Option<String>> {
    let mut keys: Vec<Option<String>> =
        cache.entries().expect("the folder can be read").into_iter().map(|entry| entry.key).collect();
    keys.sort();
    keys
}

#[test]
fn what_is_kept_is_found_until_it_is_cleared() {
    let folder = Folder::new("kept");
    let cache = Cache::at(&folder.0);
    assert_eq!((cache.read(Kind::SelfTest, "a"), cache.entries(), cache.clear()), (None, Ok(Vec::new()), Ok(0)));
    cache.write(Kind::SelfTest, "a", b"1").expect("it can be written");
    cache.write(Kind::SelfTest, "b", b"2").expect("it can be written");
    cache.write(Kind::SelfTest, "a", b"3").expect("it can be written");
    assert_eq!(cache.read(Kind::SelfTest, "a"), Some(b"3".to_vec()));
    assert_eq!(keys(&cache), [Some("a".to_owned()), Some("b".to_owned())]);
    fs::write(folder.0.join("notes.txt"), "mine").expect("the folder can be written");
    assert_eq!(cache.clear(), Ok(2));
    assert_eq!(cache.read(Kind::SelfTest, "a"), None);
    assert!(folder.0.join("notes.txt").exists(), "what is no entry stays");
}

#[test]
fn what_is_damaged_is_listed_not_read_and_replaced() {
    let folder = Folder::new("damaged");
    let cache = Cache::at(&folder.0);
    cache.write(Kind::SelfTest, "a", b"1").expect("it can be written");
    let file = folder.0.join(file_name(Kind::SelfTest, "a"));
    for content in [&b""[..], b"weft", b"something else altogether, and longer than a header"] {
        fs::write(&file, content).expect("the folder can be written");
        assert_eq!((cache.read(Kind::SelfTest, "a"), keys(&cache)), (None, vec![None]));
    }
    // Of another key, as if hashes were the same.
    fs::write(&file, encode(Kind::SelfTest, "b", b"2")).expect("the folder can be written");
    assert_eq!(cache.read(Kind::SelfTest, "a"), None);
    cache.write(Kind::SelfTest, "a", b"3").expect("it can be written");
    assert_eq!(cache.read(Kind::SelfTest, "a"), Some(b"3".to_vec()));
}

#[test]
fn what_was_not_used_for_longest_goes_first() {
    let folder = Folder::new("bounded");
    let size = u64::try_from(encode(Kind::SelfTest, "a", &[0; 100]).len()).expect("it is small");
    let cache = Cache::at(&folder.0).with_max_bytes(3 * size);
    for (age, key) in [(30, "a"), (20, "b"), (10, "c")] {
        cache.write(Kind::SelfTest, key, &[0; 100]).expect("it can be written");
        let file = fs::File::options().append(true).open(folder.0.join(file_name(Kind::SelfTest, key)));
        let used = SystemTime::now() - Duration::from_secs(age);
        file.and_then(|file| file.set_modified(used)).expect("the file is ours");
    }
    assert!(cache.read(Kind::SelfTest, "a").is_some());
    cache.write(Kind::SelfTest, "d", &[0; 100]).expect("it can be written");
    assert_eq!(keys(&cache), ["a", "c", "d"].map(|key| Some(key.to_owned())));
    // What is too large stays alone.
    cache.clone().with_max_bytes(1).write(Kind::SelfTest, "e", &[0; 100]).expect("it can be written");
    assert_eq!(keys(&cache), [Some("e".to_owned())]);
}

#[test]
fn many_may_write_at_once() {
    let folder = Folder::new("many");
    let cache = Cache::at(&folder.0);
    std::thread::scope(|scope| {
        for writer in 0..8u8 {
            let cache = &cache;
            scope.spawn(move || {
                for round in 0..20u8 {
                    let key = ["a", "b"][usize::from(round % 2)];
                    cache.write(Kind::SelfTest, key, &[writer; 5000]).expect("it can be written");
                    let found = cache.read(Kind::SelfTest, key).expect("somebody has written it");
                    assert!(found.len() == 5000 && found.iter().all(|byte| *byte == found[0]));
                }
            });
        }
    });
    let left = fs::read_dir(&folder.0).expect("the folder is there").count();
    assert_eq!(left, 2, "no temporary file stays");
}

#[test]
fn a_folder_that_cannot_be_is_an_error_and_no_panic() {
    let folder = Folder::new("file");
    fs::write(&folder.0, "no folder").expect("the temporary folder can be written");
    let cache = Cache::at(folder.0.join("in it"));
    let error = cache.write(Kind::SelfTest, "a", b"1").expect_err("a file holds no files");
    assert_eq!(error.code(), "RUN040");
    assert_eq!(cache.read(Kind::SelfTest, "a"), None);
    let _ = fs::remove_file(&folder.0);
}
