//! Random Fourier transforms, linear algebra, random bits and random numbers.

use super::body::Body;
use super::contraction::dot_of;
use crate::ir::{ElementType, FftType, InstrId, Op, Opcode, RandomAlgorithm, RandomDistribution, Shape, TransposeKind};

/// Of real numbers as many as there are; back from them an even or an odd number.
pub(super) fn fft(body: &mut Body<'_>) -> Option<InstrId> {
    let fft_type = body.world.rng.choose(FftType::ALL)?;
    let is_real = fft_type == FftType::RealForward;
    let operand = body.array(
        |element_type| match is_real {
            true => matches!(element_type, ElementType::F32 | ElementType::F64),
            false => element_type.is_complex(),
        },
        1,
    )?;
    let array = body.array_shape(operand);
    let count = 1 + body.world.rng.below(array.rank().min(3));
    let mut fft_length = array.extents[array.rank() - count..].to_vec();
    if fft_type == FftType::RealInverse {
        let last = fft_length.last_mut()?;
        *last = match *last {
            0 => 0,
            1 => 1,
            half => 2 * (half - 1) + i64::from(body.world.rng.chance(50)),
        };
    }
    let wide = array.element_type.bits() == 128 || array.element_type == ElementType::F64;
    let result = match fft_type {
        FftType::Forward | FftType::Inverse => array.element_type,
        FftType::RealForward if wide => ElementType::C128,
        FftType::RealForward => ElementType::C64,
        FftType::RealInverse if wide => ElementType::F64,
        FftType::RealInverse => ElementType::F32,
    };
    body.emit(Op::Fft { fft_type, fft_length }, vec![operand], result)
}

/// Square matrices of a type that divides.
fn matrices(body: &mut Body<'_>) -> Option<(InstrId, Vec<i64>)> {
    let element_type = body.element_type(|element_type| element_type.is_float() || element_type.is_complex())?;
    let order = body.world.rng.extent(4);
    let outer = body.world.rng.weighted(&[50, 30, 20]);
    let mut extents: Vec<i64> = (0..outer).map(|_| body.world.rng.extent(2)).collect();
    extents.extend([order, order]);
    if extents.iter().product::<i64>() > body.elements() {
        return None;
    }
    Some((body.operand(element_type, &extents), extents))
}

/// Half of the time of a matrix times its transpose, which has a factor more often.
pub(super) fn cholesky(body: &mut Body<'_>) -> Option<InstrId> {
    let (mut operand, extents) = matrices(body)?;
    let element_type = body.array_shape(operand).element_type;
    if body.world.is_asked(Opcode::Dot) && body.world.rng.chance(50) {
        let outer: Vec<i64> = (0..extents.len() as i64 - 2).collect();
        let last = vec![extents.len() as i64 - 1];
        operand = dot_of(body, [operand, operand], [outer.clone(), outer], [last.clone(), last], element_type)?;
    }
    let lower = body.world.rng.chance(50);
    body.emit(Op::Cholesky { lower }, vec![operand], element_type)
}

pub(super) fn triangular_solve(body: &mut Body<'_>) -> Option<InstrId> {
    let (matrix, mut extents) = matrices(body)?;
    let element_type = body.array_shape(matrix).element_type;
    let rng = &mut body.world.rng;
    let (left_side, lower, unit_diagonal) = (rng.chance(50), rng.chance(50), rng.chance(30));
    let transpose_a = rng.choose(&[TransposeKind::None, TransposeKind::Transpose, TransposeKind::Adjoint])?;
    let free = extents.len() - if left_side { 1 } else { 2 };
    extents[free] = rng.extent(3);
    if extents.iter().product::<i64>() > body.elements() {
        return None;
    }
    let right = body.operand(element_type, &extents);
    let op = Op::TriangularSolve { left_side, lower, unit_diagonal, transpose_a };
    body.emit(op, vec![matrix, right], element_type)
}

/// From a state that the algorithm has, bits of a type that has whole bytes.
pub(super) fn rng_bit_generator(body: &mut Body<'_>) -> Option<InstrId> {
    let algorithm = body.world.rng.choose(RandomAlgorithm::ALL)?;
    let words = if algorithm == RandomAlgorithm::ThreeFry { 2 } else { body.world.rng.between(2, 3) };
    let is_narrow = body.world.rng.chance(30) || !body.world.options.types.contains(&ElementType::U64);
    let (state_type, words) = if is_narrow { (ElementType::U32, 4) } else { (ElementType::U64, words) };
    let state = body.small_operand(state_type, &[words])?;
    let element_type = body.element_type(|t| (t.is_integer() && t.bits() >= 8) || (t.is_float() && t.bits() >= 16))?;
    let extents = body.extents(0);
    let declared = Shape::Tuple(vec![Shape::array(state_type, [words]), Shape::array(element_type, extents)]);
    body.emit_as(Op::RngBitGenerator { algorithm }, vec![state], declared)
}

/// Numbers of a distribution with two parameters.
pub(super) fn rng(body: &mut Body<'_>) -> Option<InstrId> {
    let distribution = body.world.rng.choose(&[RandomDistribution::Uniform, RandomDistribution::Normal])?;
    let is_normal = distribution == RandomDistribution::Normal;
    let element_type = body.element_type(|t| t.is_float() || (!is_normal && t.is_integer()))?;
    let extents = body.extents(0);
    let operands = (0..2).map(|_| body.operand(element_type, &[])).collect();
    body.emit_as(Op::Rng { distribution }, operands, Shape::array(element_type, extents))
}
