//! Which buffers there are, and who lies in them when.

use super::alias::Aliases;
use super::{Origin, Schedule};
use crate::Error;
use crate::program::assign::{Tenant, Wish, assign};
use crate::program::donation::Donation;
use crate::program::layout::buffer_bytes;
use crate::program::{Buffer, BufferKind};
use std::collections::{BTreeMap, BTreeSet};

/// The buffers of a program.
pub(super) struct Memory {
    pub(super) buffers: Vec<Buffer>,
    /// Which of them each value lies in.
    pub(super) place: Vec<usize>,
    /// Bytes of what does not begin a buffer of results, if none of it shared one.
    pub(super) temporaries_without_reuse: u64,
    /// Bytes that live at one time at most.
    pub(super) least: u64,
}

/// A value that others may lie with, and when it does.
#[derive(Copy, Clone)]
struct Home {
    value: usize,
    tenant: Tenant,
}

impl Memory {
    /// Gives every value a buffer. What is donated and no longer needed is where others are put, first the results that the module names with it.
    ///
    /// # Errors
    /// [`Error::BufferTooLarge`] where the bytes of a value cannot be counted.
    pub(super) fn of(schedule: &Schedule<'_>, aliases: &Aliases, donation: &Donation) -> Result<Self, Error> {
        let homes = homes(schedule, aliases, donation)?;
        let free: Vec<Home> =
            homes.iter().copied().filter(|home| schedule.values[home.value].origin.is_free()).collect();
        let assignment = assign(&free.iter().map(|home| home.tenant).collect::<Vec<_>>());
        let mut buffers: Vec<Buffer> = Vec::new();
        let mut place: Vec<usize> = vec![usize::MAX; schedule.values.len()];
        // Where the buffers that were assigned are among all.
        let mut numbers: Vec<Option<usize>> = vec![None; assignment.buffers.len()];
        let mut assigned = assignment.place.iter().copied();
        let mut constants = 0;
        for Home { value, tenant } in homes.iter().copied() {
            let origin = schedule.values[value].origin;
            let own = if origin.is_free() { assigned.next() } else { None };
            let kind = match origin {
                Origin::Parameter(number) => BufferKind::Parameter(number),
                Origin::Donated(number) => BufferKind::Donated(number),
                Origin::Sizes(number) => BufferKind::Sizes(number),
                Origin::Constant(_) => {
                    constants += 1;
                    BufferKind::Constant(constants - 1)
                }
                Origin::Made => continue,
            };
            if let Some(own) = own {
                numbers[own] = Some(buffers.len());
            }
            place[value] = buffers.len();
            buffers.push(Buffer { kind, bytes: tenant.bytes, place: None });
        }
        let mut without_reuse = 0u64;
        for (Home { value, tenant }, own) in free.into_iter().zip(&assignment.place) {
            if schedule.values[value].origin != Origin::Made {
                continue;
            }
            let number = *numbers[*own].get_or_insert_with(|| {
                let bytes = assignment.buffers[*own];
                buffers.push(Buffer { kind: BufferKind::Temporary, bytes, place: None });
                buffers.len() - 1
            });
            place[value] = number;
            if tenant.last == usize::MAX && buffers[number].kind == BufferKind::Temporary {
                buffers[number].kind = BufferKind::Result;
            } else {
                without_reuse = without_reuse.saturating_add(tenant.bytes);
            }
        }
        let place = (0..place.len()).map(|value| place[aliases.home(value)]).collect();
        Ok(Memory { buffers, place, temporaries_without_reuse: without_reuse, least: least(schedule, &homes) })
    }
}

/// The values that others lie with, the steps between which any of those is needed, and what they ask of their buffers.
fn homes(schedule: &Schedule<'_>, aliases: &Aliases, donation: &Donation) -> Result<Vec<Home>, Error> {
    let mut lives: Vec<(usize, usize)> = vec![(usize::MAX, 0); schedule.values.len()];
    let mut extend = |value: usize, first: usize, last: usize| {
        let life = &mut lives[aliases.home(value)];
        *life = (life.0.min(first), life.1.max(last));
    };
    for (index, value) in schedule.values.iter().enumerate() {
        extend(index, value.made, value.made);
        for (at, user) in &value.uses {
            extend(index, value.made, schedule.regions.last(value.region, *at, *user));
        }
    }
    aliases.exchanged.iter().for_each(|(value, first, last)| extend(*value, *first, *last));
    // Buffers that exchange their memory are of one size, and rounds have several of those that they keep.
    let exact: BTreeSet<usize> = (aliases.exchanged.iter().map(|(value, ..)| value))
        .chain(&aliases.kept)
        .map(|value| aliases.home(*value))
        .collect();
    let named: BTreeMap<usize, usize> = (donation.aliases.iter().rev())
        .filter_map(|(result, parameter)| {
            Some((aliases.home(*schedule.results.get(*result)?), *schedule.parameters.get(*parameter)?))
        })
        .collect();
    let mut numbers: BTreeMap<usize, usize> = BTreeMap::new();
    let mut homes = Vec::new();
    for (value, (first, last)) in lives.into_iter().enumerate().filter(|(value, _)| aliases.home(*value) == *value) {
        let of = &schedule.values[value];
        let too_large = || Error::too_large(&of.name, &of.shape, None, schedule.target.max_buffer_bytes);
        let bytes = buffer_bytes(of.bytes).ok_or_else(too_large)?;
        if of.origin.is_free() {
            let number = numbers.len();
            numbers.insert(value, number);
        }
        // Parameters come before all other values, and lie where nothing lay before.
        let after = named.get(&value).and_then(|parameter| numbers.get(parameter).copied());
        let wish = match (of.origin, after) {
            (Origin::Donated(_), _) => Wish::Own,
            (_, Some(parameter)) if !exact.contains(&value) => Wish::After(parameter),
            _ if exact.contains(&value) => Wish::Exact,
            _ if last == usize::MAX => Wish::Snug,
            _ => Wish::Room,
        };
        // What kernels look for in an arena has nothing there before it, nor behind it.
        let tenant = match schedule.in_arenas.contains_key(&value) {
            true => Tenant { bytes, first: 0, last: usize::MAX, wish: Wish::Own },
            false => Tenant { bytes, first, last, wish },
        };
        homes.push(Home { value, tenant });
    }
    Ok(homes)
}

/// Bytes that live at one time at most.
fn least(schedule: &Schedule<'_>, homes: &[Home]) -> u64 {
    let mut always = 0u64;
    // What begins and what ends at each step.
    let mut changes: BTreeMap<usize, (u64, u64)> = BTreeMap::new();
    for Home { value, tenant } in homes {
        if schedule.values[*value].origin.is_free() {
            let begun = &mut changes.entry(tenant.first).or_default().0;
            *begun = begun.saturating_add(tenant.bytes);
            let ended = &mut changes.entry(tenant.last).or_default().1;
            *ended = ended.saturating_add(tenant.bytes);
        } else {
            always = always.saturating_add(tenant.bytes);
        }
    }
    let (mut live, mut most) = (0u64, 0u64);
    for (begun, ended) in changes.values() {
        live = live.saturating_add(*begun);
        most = most.max(live);
        live = live.saturating_sub(*ended);
    }
    most.saturating_add(always)
}
