//! Application of a LAPACK routine to each matrix of a batch.

use super::super::literal;
use super::super::registry::CustomCall;
use crate::eval::linalg::{self, Field, Matrix};
use crate::ir::{ArrayShape, Data, ElementType, Literal};
use num_complex::{Complex, Complex64};

/// From one matrix of each operand to what each result has of it; `info` is one of them.
pub(super) type Routine<F> = fn(&[Matrix<F>], &CustomCall<'_>) -> Result<Vec<Output<F>>, String>;

/// A result of a routine for one matrix.
pub(super) enum Output<F> {
    Numbers(Vec<F>),
    Reals(Vec<f64>),
    Complexes(Vec<Complex64>),
    Integers(Vec<i32>),
}

/// The kinds of a routine's operands.
#[derive(Copy, Clone, Default)]
pub(super) struct OperandKinds {
    /// The position of one that is a matrix, in a batch; others may be vectors.
    pub(super) matrix: usize,
    /// The position of one that is of integers, if there is one.
    pub(super) integers: Option<usize>,
}

/// Applies a routine to each matrix of the operands' leading dimensions.
pub(super) fn batched<F: Field>(
    call: &CustomCall<'_>,
    operands: &[Literal],
    takes: OperandKinds,
    routine: Routine<F>,
) -> Result<Vec<Literal>, String> {
    let first = operands.get(takes.matrix).and_then(|operand| operand.shape.as_array()).ok_or("takes more arrays")?;
    let batch_rank = first.rank().checked_sub(2).ok_or_else(|| format!("takes matrices, not {first}"))?;
    let batch = &first.extents[..batch_rank];
    let count = product(batch)?;
    let results = call.results();
    let mut inputs = Vec::new();
    for (position, operand) in operands.iter().enumerate() {
        let shape = operand.shape.as_array().ok_or("takes arrays")?;
        let is_right = match takes.integers == Some(position) {
            true => shape.element_type == ElementType::S32,
            false => shape.element_type.is_complex() != F::IS_REAL && !shape.element_type.is_integer(),
        };
        if !shape.extents.starts_with(batch) || !is_right {
            return Err(format!("cannot take {shape} beside {first}"));
        }
        let values = linalg::read::<F>(&operand.data).map_err(|error| error.to_string())?;
        inputs.push((single(shape, batch_rank)?, values));
    }
    if let Some(shape) = results.iter().find(|shape| !shape.extents.starts_with(batch)) {
        return Err(format!("cannot give {shape} for {first}"));
    }
    // Without a matrix the routine makes nothing, and what the text says is not compared with it.
    let mut outs: Vec<Output<F>> = results.iter().map(|shape| Output::empty(shape.element_type)).collect();
    if count > 0 {
        results.iter().try_for_each(|shape| single(shape, batch_rank).map(|_| ()))?;
    }
    for number in 0..count {
        let matrices: Vec<Matrix<F>> = inputs
            .iter()
            .map(|((rows, columns), values)| {
                let size = rows * columns;
                Matrix { rows: *rows, columns: *columns, elements: values[number * size..][..size].to_vec() }
            })
            .collect();
        let made = routine(&matrices, call)?;
        if made.len() != outs.len() {
            return Err(format!("gives {} arrays, the text says {}", made.len(), outs.len()));
        }
        for (out, (made, shape)) in outs.iter_mut().zip(made.into_iter().zip(&results)) {
            let (rows, columns) = single(shape, batch_rank)?;
            if rows.checked_mul(columns) != Some(made.len()) || !out.append(made) {
                return Err(format!("gives other elements than the text says, {shape}"));
            }
        }
    }
    results.iter().zip(outs).map(|(shape, out)| Ok(literal(shape, out.into_data(shape.element_type)?))).collect()
}

/// The extents behind the batch, as those of a matrix: a vector is one column, a scalar one element.
pub(super) fn single(shape: &ArrayShape, batch_rank: usize) -> Result<(usize, usize), String> {
    let extents = shape.extents.get(batch_rank..).unwrap_or(&[]);
    match extents {
        [] => Ok((1, 1)),
        [rows] => Ok((product(&[*rows])?, 1)),
        [rows, columns] => Ok((product(&[*rows])?, product(&[*columns])?)),
        _ => Err(format!("cannot take or give {shape}")),
    }
}

fn product(extents: &[i64]) -> Result<usize, String> {
    if extents.contains(&0) {
        return Ok(0);
    }
    let product = extents.iter().try_fold(1i64, |product, &extent| product.checked_mul(extent));
    product.and_then(|product| usize::try_from(product).ok()).ok_or_else(|| "takes too many elements".to_owned())
}

impl<F: Field> Output<F> {
    fn empty(element_type: ElementType) -> Self {
        match element_type {
            ElementType::S32 => Output::Integers(Vec::new()),
            element_type if element_type.is_complex() != F::IS_REAL => Output::Numbers(Vec::new()),
            element_type if element_type.is_complex() => Output::Complexes(Vec::new()),
            _ => Output::Reals(Vec::new()),
        }
    }

    fn len(&self) -> usize {
        match self {
            Output::Numbers(values) => values.len(),
            Output::Reals(values) => values.len(),
            Output::Complexes(values) => values.len(),
            Output::Integers(values) => values.len(),
        }
    }

    /// Whether there is no difference in kind. Real numbers are numbers where these are real, complex ones likewise.
    fn append(&mut self, more: Output<F>) -> bool {
        match (self, more) {
            (Output::Numbers(values), Output::Numbers(more)) => values.extend(more),
            (Output::Numbers(values), Output::Reals(more)) if F::IS_REAL => {
                values.extend(more.into_iter().map(F::of_real))
            }
            (Output::Numbers(values), Output::Complexes(more)) if !F::IS_REAL => {
                values.extend(more.into_iter().map(|Complex { re, im }| F::of_parts(re, im)));
            }
            (Output::Reals(values), Output::Reals(more)) => values.extend(more),
            (Output::Complexes(values), Output::Complexes(more)) => values.extend(more),
            (Output::Integers(values), Output::Integers(more)) => values.extend(more),
            _ => return false,
        }
        true
    }

    fn into_data(self, element_type: ElementType) -> Result<Data, String> {
        match self {
            Output::Numbers(values) => linalg::write(&values, element_type).map_err(|error| error.to_string()),
            Output::Reals(values) => linalg::write(&values, element_type).map_err(|error| error.to_string()),
            Output::Complexes(values) => linalg::write(&values, element_type).map_err(|error| error.to_string()),
            Output::Integers(values) => Ok(Data::S32(values)),
        }
    }
}
