//! `weft run --input`: arrays, archives, weights, constants, in order and by name.

use crate::command::{Folder, command};
use npyz::{NpyFile, Order};
use safetensors::tensor::{Dtype, TensorView};
use std::io::Write;
use std::process::Output;

/// Says what it was given, one after the other.
const PROGRAM: &str = "
HloModule m
ENTRY main {
  w = f32[2,2] parameter(0)
  b = bf16[2] parameter(1)
  n = s32[] parameter(2)
  flags = pred[2] parameter(3)
  ROOT all = (f32[2,2], bf16[2], s32[], pred[2]) tuple(w, b, n, flags)
}";

fn run(folder: &Folder, inputs: &[&str]) -> Output {
    let program = folder.file("m.hlo", PROGRAM);
    let mut run = command();
    run.args(["run", &program, "--device", "evaluator", "--output-dir", &folder.path("out")]);
    for input in inputs {
        run.args(["--input", input]);
    }
    run.output().expect("the command starts")
}

fn read<T: npyz::Deserialize>(folder: &Folder, number: usize) -> Vec<T> {
    let bytes = std::fs::read(folder.path(&format!("out/out_{number}.npy"))).expect("it was written");
    NpyFile::new(&bytes[..]).expect("a header").into_vec().expect("elements")
}

/// Whether these inputs give the numbers that all of the tests do.
fn gives(folder: &Folder, inputs: &[&str]) {
    let output = run(folder, inputs);
    assert!(output.status.success(), "{inputs:?}: {}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(read::<f32>(folder, 0), [1.0, -2.5, 3.0, 4.0], "{inputs:?}");
    // Bits, since NumPy has no such type.
    assert_eq!(read::<u16>(folder, 1), [0x3f80, 0xc000], "{inputs:?}");
    assert_eq!(read::<i32>(folder, 2), [-7], "{inputs:?}");
    assert_eq!(read::<bool>(folder, 3), [true, false], "{inputs:?}");
}

fn refused(folder: &Folder, inputs: &[&str], reason: &str) {
    let output = run(folder, inputs);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && told.contains(reason), "{inputs:?}: {told}");
}

const W: &str = "{{1, -2.5}, {3, 4}}";
const B: &str = "{1, -2}";

/// An archive of arrays, as `numpy.savez` writes them.
fn archive(folder: &Folder, name: &str, arrays: &[(&str, String)]) -> String {
    let mut bytes = std::io::Cursor::new(Vec::new());
    let mut archive = zip::ZipWriter::new(&mut bytes);
    for (name, file) in arrays {
        let options = zip::write::SimpleFileOptions::default();
        archive.start_file(format!("{name}.npy"), options).expect("memory can be written");
        archive.write_all(&std::fs::read(file).expect("it was written")).expect("memory can be written");
    }
    archive.finish().expect("memory can be written");
    folder.file(name, bytes.into_inner())
}

fn weights(folder: &Folder, name: &str) -> String {
    let w: Vec<u8> = [1.0f32, -2.5, 3.0, 4.0].iter().flat_map(|value| value.to_le_bytes()).collect();
    let b: Vec<u8> = [0x3f80u16, 0xc000].iter().flat_map(|bits| bits.to_le_bytes()).collect();
    let tensors = [
        ("w", TensorView::new(Dtype::F32, vec![2, 2], &w)),
        ("b", TensorView::new(Dtype::BF16, vec![2], &b)),
        ("flags", TensorView::new(Dtype::BOOL, vec![2], &[1, 0])),
        ("n", TensorView::new(Dtype::I32, vec![], &[0xf9, 0xff, 0xff, 0xff])),
        ("else", TensorView::new(Dtype::F32, vec![2, 2], &w)),
    ];
    let tensors = tensors.map(|(name, tensor)| (name, tensor.expect("the sizes are right")));
    folder.file(name, safetensors::serialize(tensors, None).expect("tensors can be written"))
}

#[test]
fn constants_are_written_as_in_hlo() {
    let folder = Folder::new();
    gives(&folder, &[W, B, "-7", "{true, false}"]);
    refused(&folder, &[W, B, "-7.5", "{true, false}"], "parameter 2 (n) is s32[]: `-7.5` is no constant of that");
    refused(&folder, &["{1, 2}", B, "-7", "{true, false}"], "parameter 0 (w)");
    refused(&folder, &[W, B, "1) , x = s32[] constant(2", "{true, false}"], "no constant of that");
    refused(&folder, &["info.npy", B, "-7", "{true, false}"], "cannot read info.npy");
    refused(&folder, &["{...}", B, "-7", "{true, false}"], "parameter 0 (w)");
}

#[test]
fn inputs_have_names() {
    let folder = Folder::new();
    let w = folder.npy("w.npy", &[2, 2], Order::C, &[1.0f32, -2.5, 3.0, 4.0]);
    gives(&folder, &["flags={true, false}", "n=-7", &w, B]);
    gives(&folder, &[&format!("w={w}"), B, "-7", "{true, false}"]);
    refused(&folder, &["n=1", "n=2", W, B, "{true, false}"], "parameter 2 (n) is given twice");
    refused(&folder, &["n=1", W, B], "parameter 3 (flags) is missing");
    refused(&folder, &["n=1", W, B, "{true, false}", "5"], "input 4 (5) is superfluous");
}

#[test]
fn archives_of_arrays_are_taken_by_name_and_number() {
    let folder = Folder::new();
    let w = folder.npy("w.npy", &[2, 2], Order::C, &[1.0f32, -2.5, 3.0, 4.0]);
    let b = folder.npy("b.npy", &[2], Order::C, &[0x3f80u16, 0xc000]);
    let n = folder.npy("n.npy", &[], Order::C, &[-7i32]);
    let flags = folder.npy("flags.npy", &[2], Order::C, &[true, false]);
    let named = archive(&folder, "named.npz", &[("n", n.clone()), ("w", w.clone()), ("else", b.clone())]);
    gives(&folder, &[&named, &b, &flags]);
    // What has a name comes first, wherever it stands.
    gives(&folder, &[&named, &b, &flags, "n=-7"]);
    let numbered = [("arr_0", w.clone()), ("arr_1", b.clone()), ("arr_2", n), ("arr_3", flags)];
    gives(&folder, &[&archive(&folder, "numbered.npz", &numbered)]);
    let other = archive(&folder, "other.npz", &[("x", w), ("y", b)]);
    gives(&folder, &[&format!("{other}:x"), &format!("b={other}:y"), "-7", "{true, false}"]);
    refused(&folder, &[&other, B], "holds no parameter that is missing; it holds x, y");
    refused(&folder, &[&format!("{other}:z")], "cannot read z of");
}

#[test]
fn weights_are_taken_by_name() {
    let folder = Folder::new();
    let all = weights(&folder, "all.safetensors");
    gives(&folder, &[&all]);
    gives(&folder, &[&format!("{all}:else"), &format!("b={all}:b"), "-7", "{true, false}"]);
    refused(&folder, &[&format!("{all}:b"), B, "-7", "{true, false}"], "holds BF16[2]");
    let whole = std::fs::read(&all).expect("it was written");
    let broken = folder.file("broken.safetensors", &whole[..whole.len() - 1]);
    refused(&folder, &[&broken], "cannot read");
}
