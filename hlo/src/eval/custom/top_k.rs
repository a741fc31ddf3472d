//! The custom call `TopK`.

use super::literal;
use super::registry::CustomCall;
use crate::eval::fold::typed;
use crate::eval::product::reader;
use crate::eval::scalar::Number;
use crate::ir::{Data, ElementType, Literal, Scalar};
use std::cmp::Ordering;

/// The largest elements along the last dimension, descending, as many as the results' last extent says, and where they are.
/// Floats are in total order, with NaN as the largest; of equal elements the first comes first.
pub(super) fn top_k(call: &CustomCall<'_>, operands: &[Literal]) -> Result<Vec<Literal>, String> {
    let results = call.results();
    let ([operand], [values, indices]) = (operands, &results[..]) else {
        return Err("takes one array and gives two".to_owned());
    };
    let from = operand.shape.as_array().and_then(|shape| shape.extents.split_last());
    let (Some((&length, rows)), Some((&count, kept))) = (from, values.extents.split_last()) else {
        return Err("takes an array with a last dimension".to_owned());
    };
    let fits = rows == kept && indices.extents == values.extents && indices.element_type == ElementType::S32;
    if !fits || count > length {
        return Err(format!("cannot take {values} and {indices} out of {}", operand.shape));
    }
    let (Ok(length), Ok(count)) = (usize::try_from(length), usize::try_from(count)) else {
        return Err("takes extents that are known".to_owned());
    };
    let element_type = values.element_type;
    if operand.data.element_type() != Some(element_type) {
        return Err("gives elements of another type than it takes".to_owned());
    }
    let (read, held) = (reader(element_type), operand.data.len().unwrap_or(0));
    let numbers: Vec<Number> = (0..held).map(|position| read(&operand.data, position)).collect();
    let (mut scalars, mut places) = (Vec::<Scalar>::new(), Vec::new());
    if count > 0 {
        for (row, numbers) in numbers.chunks(length).enumerate() {
            let mut order: Vec<usize> = (0..length).collect();
            order.sort_by(|&a, &b| compared(numbers[b], numbers[a]));
            places.extend(order[..count].iter().map(|&place| place as i32));
            scalars.extend(order[..count].iter().filter_map(|&place| operand.data.get(row * length + place)));
        }
    }
    let data = typed(&scalars, values).map_err(|_| "takes more memory than there is".to_owned())?;
    Ok(vec![literal(values, data), literal(indices, Data::S32(places))])
}

fn compared(a: Number, b: Number) -> Ordering {
    match (a, b) {
        (Number::Integer(a), Number::Integer(b)) => a.cmp(&b),
        _ => a.real().total_cmp(&b.real()),
    }
}
