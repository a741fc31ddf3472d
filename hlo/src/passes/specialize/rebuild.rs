//! The specialized module, made once the extents are known.

use super::equations::Equations;
use super::instance::Instances;
use super::{BOUND, OPEN, finding};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::UniqueNames;
use crate::ir::{
    Arena, ArenaId, ArrayShape, Computation, ComputationId, EntryLayout, HeaderAttribute, InstrId, Instruction, Layout,
    Module, Op, Shape,
};
use std::collections::HashMap;

/// How many extents that do not follow are reported.
const MAX_FINDINGS: usize = 20;

pub(super) fn rebuild(
    module: &Module,
    instances: &Instances,
    equations: &mut Equations<'_>,
) -> Result<Module, Diagnostics> {
    let shapes = shapes(module, instances, equations)?;
    let mut builder = Builder {
        module,
        instances,
        shapes,
        made: Arena::new(),
        names: UniqueNames::default(),
        static_images: HashMap::new(),
        instance_images: vec![None; instances.all.len()],
        known: HashMap::new(),
    };
    builder.computations();
    let entry = builder.instance_images[0].expect("the entry is an instance, and all instances were made");
    let mut specialized = Module {
        name: module.name.clone(),
        attributes: module.attributes.clone(),
        tables: module.tables.clone(),
        computations: builder.made,
        entry,
    };
    let layout = entry_layout(&specialized.computations[entry]);
    for attribute in &mut specialized.attributes {
        if let HeaderAttribute::EntryComputationLayout(given) = attribute {
            *given = layout.clone();
        }
    }
    Ok(specialized)
}

/// The shapes of parameters and result with the layouts they have, row-major where they have none.
fn entry_layout(entry: &Computation) -> EntryLayout {
    let shape = |id: InstrId| laid_out(&entry.instructions[id].shape);
    EntryLayout { parameters: entry.parameters().into_iter().map(shape).collect(), result: shape(entry.root) }
}

fn laid_out(shape: &Shape) -> Shape {
    match shape {
        Shape::Array(array) => {
            let layout = array.layout.clone().unwrap_or_else(|| Layout::row_major(array.rank()));
            Shape::Array(ArrayShape { layout: Some(layout), ..array.clone() })
        }
        Shape::Tuple(elements) => Shape::Tuple(elements.iter().map(laid_out).collect()),
        Shape::Token | Shape::Opaque | Shape::Buffer(_) => shape.clone(),
    }
}

/// The static shape of every instruction of every instance.
fn shapes(
    module: &Module,
    instances: &Instances,
    equations: &mut Equations<'_>,
) -> Result<Vec<Vec<Shape>>, Diagnostics> {
    let mut findings = Vec::new();
    let mut all = Vec::with_capacity(instances.all.len());
    for instance in 0..instances.all.len() {
        let computation = instances.computation(module, instance);
        let mut shapes = Vec::with_capacity(computation.instructions.len());
        for (id, instruction) in computation.instructions.iter() {
            let mut shape = instruction.shape.clone();
            let extents = equations.extents(instance, id);
            match settle(&mut shape, &mut extents.iter()) {
                Ok(()) => {}
                // What an open operand makes open is no finding of its own.
                Err(Fault::Open(dimension)) => {
                    let open_operand = instruction
                        .operands
                        .iter()
                        .any(|&operand| equations.extents(instance, operand).iter().flatten().any(Option::is_none));
                    if !open_operand {
                        findings.push(open(computation, instruction, dimension));
                    }
                }
                Err(Fault::Bound(extent, limit)) => {
                    let message = format!("an extent is {extent}, and may be from 0 to {limit}");
                    findings.push(finding(BOUND, &computation.name, instruction, message));
                }
            }
            shapes.push(shape);
        }
        all.push(shapes);
    }
    findings.truncate(MAX_FINDINGS);
    if findings.is_empty() { Ok(all) } else { Err(Diagnostics(findings)) }
}

fn open(computation: &Computation, instruction: &Instruction, dimension: usize) -> Diagnostic {
    let message = format!(
        "the extent of dimension {dimension} of {} does not follow from the shapes that are given",
        instruction.shape.without_layout()
    );
    finding(OPEN, &computation.name, instruction, message)
}

enum Fault {
    /// The extent of this dimension is not known.
    Open(usize),
    /// The extent, and the greatest that there may be.
    Bound(i64, i64),
}

/// Puts the extents of the leaves in, in order.
fn settle<'e>(shape: &mut Shape, leaves: &mut impl Iterator<Item = &'e Vec<Option<i64>>>) -> Result<(), Fault> {
    // Tuples in tuples wait with the elements that are left of them.
    let mut pending = vec![shape];
    while let Some(shape) = pending.pop() {
        if let Shape::Tuple(elements) = shape {
            pending.extend(elements.iter_mut().rev());
            continue;
        }
        let extents = leaves.next();
        let (Shape::Array(array), Some(extents)) = (shape, extents) else { continue };
        for (dimension, extent) in extents.iter().enumerate() {
            let extent = extent.ok_or(Fault::Open(dimension))?;
            let limit = array.extents[dimension];
            let limit = if limit < 0 { i64::MAX } else { limit };
            if array.is_open(dimension) && !(0..=limit).contains(&extent) {
                return Err(Fault::Bound(extent, limit));
            }
            array.extents[dimension] = extent;
        }
        array.dynamic.clear();
    }
    Ok(())
}

struct Builder<'m> {
    module: &'m Module,
    instances: &'m Instances,
    shapes: Vec<Vec<Shape>>,
    made: Arena<ComputationId, Computation>,
    names: UniqueNames,
    static_images: HashMap<ComputationId, ComputationId>,
    instance_images: Vec<Option<ComputationId>>,
    /// Instances that came out alike are one computation.
    known: HashMap<(ComputationId, Vec<Shape>, Vec<ComputationId>), ComputationId>,
}

impl Builder<'_> {
    /// Makes the computations that the entry reaches, callees first.
    fn computations(&mut self) {
        let mut instances: HashMap<ComputationId, Vec<usize>> = HashMap::new();
        for (position, instance) in self.instances.all.iter().enumerate() {
            instances.entry(instance.source).or_default().push(position);
        }
        let needed = self.needed_statics();
        for id in self.module.computations.ids() {
            for &instance in instances.get(&id).map_or(&[][..], Vec::as_slice) {
                self.instance(instance);
            }
            if needed[id.index()] {
                let computation = self.module.computations[id].clone();
                let image = self.push(computation, |builder, _, _, callee| builder.static_images[&callee]);
                self.static_images.insert(id, image);
            }
        }
    }

    /// Which computations without open extents are called, by an instance or by one another.
    fn needed_statics(&self) -> Vec<bool> {
        let mut needed = vec![false; self.module.computations.len()];
        let call = |needed: &mut Vec<bool>, computation: &Computation| {
            for callee in computation.instructions.values().flat_map(|instruction| instruction.op.called_computations())
            {
                needed[callee.index()] |= !self.instances.open[callee.index()];
            }
        };
        for instance in &self.instances.all {
            call(&mut needed, &self.module.computations[instance.source]);
        }
        for (id, computation) in self.module.computations.iter().rev() {
            if needed[id.index()] {
                call(&mut needed, computation);
            }
        }
        needed
    }

    fn instance(&mut self, position: usize) {
        let instance = &self.instances.all[position];
        let source = &self.module.computations[instance.source];
        let shapes = std::mem::take(&mut self.shapes[position]);
        let callee_image = |builder: &Self, id: InstrId, number: usize, callee: ComputationId| match instance
            .callees
            .get(&(id, number))
        {
            Some(&called) => builder.instance_images[called].expect("callees are made before their callers"),
            None => builder.static_images[&callee],
        };
        let mut callees = Vec::new();
        for (id, instruction) in source.instructions.iter() {
            for (number, callee) in instruction.op.called_computations().into_iter().enumerate() {
                callees.push(callee_image(self, id, number, callee));
            }
        }
        let key = (instance.source, shapes, callees);
        if let Some(&known) = self.known.get(&key) {
            self.instance_images[position] = Some(known);
            return;
        }
        let mut computation = source.clone();
        for (instruction, shape) in computation.instructions.values_mut().zip(&key.1) {
            if !instruction.shape.is_static() {
                instruction.shape = shape.clone();
            }
        }
        constrain_operands(&mut computation);
        let image = self.push(computation, callee_image);
        self.instance_images[position] = Some(image);
        self.known.insert(key, image);
    }

    fn push(
        &mut self,
        mut computation: Computation,
        image: impl Fn(&Self, InstrId, usize, ComputationId) -> ComputationId,
    ) -> ComputationId {
        computation.name = self.names.take(&computation.name);
        for id in computation.instructions.ids() {
            let mut number = 0;
            computation.instructions[id].op.rename_computations(|callee| {
                number += 1;
                image(self, id, number - 1, callee)
            });
        }
        self.made.push(computation)
    }
}

/// The layouts that a custom call wants of its operands are those of shapes, which have the operands' extents.
fn constrain_operands(computation: &mut Computation) {
    for id in computation.instructions.ids() {
        let operands: Vec<Shape> = computation.instructions[id]
            .operands
            .iter()
            .map(|&operand| computation.instructions[operand].shape.clone())
            .collect();
        let Op::CustomCall { operand_layout_constraints: Some(constraints), .. } = &mut computation.instructions[id].op
        else {
            continue;
        };
        for (constraint, operand) in constraints.iter_mut().zip(operands) {
            if let (Shape::Array(constraint), Shape::Array(operand)) = (constraint, operand) {
                constraint.extents = operand.extents;
                constraint.dynamic.clear();
            }
        }
    }
}
