//! The evaluator on several threads.

use weft_hlo::eval::evaluate;
use weft_hlo::ir::{Data, Literal};
use weft_hlo::text::parse;

/// Several pieces of work, and not the same in every one.
fn numbers(extents: &[i64]) -> Literal {
    let count = extents.iter().product::<i64>() as u32;
    let number = |k: u32| f32::from_bits(k.wrapping_mul(0x9E37_79B9) >> 7 | 0x3F00_0000) - 0.9;
    Literal::array(extents, (0..count).map(number).collect::<Vec<f32>>())
}

fn bits(literals: &[Literal]) -> Vec<Vec<u32>> {
    let of_one = |literal: &Literal| match &literal.data {
        Data::F32(values) => values.iter().map(|value| value.to_bits()).collect(),
        Data::C64(values) => values.iter().flat_map(|value| [value.re.to_bits(), value.im.to_bits()]).collect(),
        other => unreachable!("{other:?}"),
    };
    literals.iter().map(of_one).collect()
}

#[test]
fn bits_do_not_depend_on_the_number_of_threads() {
    let sum = "sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }";
    let mean = "mean { a = f32[] parameter(0) b = f32[] parameter(1) c = f32[] add(a, b) h = f32[] constant(0.7) ROOT d = f32[] multiply(c, h) }";
    let zero = "z = f32[] constant(0)";
    for (extents, lines) in [
        (&[200, 300][..], "ROOT r = f32[200,300] exponential(x)"),
        (&[200, 300], "ROOT r = f32[200] reduce(x, z), dimensions={1}, to_apply=sum"),
        (&[200, 300], "ROOT r = f32[300] reduce(x, z), dimensions={0}, to_apply=mean"),
        (&[60000], "ROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=sum"),
        (&[20000], "ROOT r = f32[20000] reduce-window(x, z), window={size=200 pad=199_0}, to_apply=sum"),
        (&[200, 200], "ROOT r = f32[200,200] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
        (
            &[2, 40, 40, 3],
            "k = f32[3,3,3,5] parameter(2)\nROOT r = f32[2,38,38,5] convolution(x, k), window={size=3x3}, dim_labels=b01f_01io->b01f",
        ),
        (&[30, 1500], "c = c64[30,751] fft(x), fft_type=RFFT, fft_length={1500}\nROOT r = c64[30,751] tanh(c)"),
        (&[10, 1009], "ROOT r = c64[10,505] fft(x), fft_type=RFFT, fft_length={1009}"),
        (
            &[200, 300],
            "s = f32[200] slice(w), slice={[0:200]}\nROOT r = (f32[200,300], f32[200], f32[200]) batch-norm-training(x, s, s), epsilon=0.001, feature_index=0",
        ),
        (&[40, 1500], "ROOT r = f32[40,1500] sort(x), dimensions={1}, to_apply=less"),
    ] {
        let shape = numbers(extents).shape;
        let less = "less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] compare(a, b), direction=LT }";
        let text = format!(
            "HloModule m\n\n{sum}\n\n{mean}\n\n{less}\n\nENTRY e {{\nx = {shape} parameter(0)\nw = f32[300] parameter(1)\n{zero}\n{lines}\n}}\n"
        );
        let module = parse(&text).unwrap_or_else(|found| panic!("{text}\n{found}"));
        let mut inputs = vec![numbers(extents), numbers(&[300])];
        if lines.contains("parameter(2)") {
            inputs.push(numbers(&[3, 3, 3, 5]));
        }
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            bits(&pool.install(|| evaluate(&module, &inputs)).unwrap_or_else(|found| panic!("{lines}\n{found}")))
        };
        let one = with(1);
        assert_eq!(one, with(2), "{lines}");
        assert_eq!(one, with(3), "{lines}");
    }
}
