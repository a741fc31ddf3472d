//! Composition of indexing maps, of which the second may be that of another replica.

use weft_affine::{Expr, Interval};
use weft_indexing::{IndexingMap, Variable};

use super::context::number;
use super::owners::Number;
use super::replica::Participants;
use super::{ElementMap, ExchangeStep, KnownValues, Owners, ReplicaId, Undefined};

/// One map after the other, simplified, with the values of runtime variables that are known.
///
/// What `then` says holds on the replica that holds the elements `first` leads to: runtime variables of `then` have their values
/// there. Who asks a member of a group for another member of the same group may ask that one at once, and the position of
/// whoever is asked is the number by which it is.
pub(super) fn composed(
    first: &ElementMap,
    then: &ElementMap,
    owners: &mut Owners,
    known: KnownValues<'_>,
) -> Result<ElementMap, Undefined> {
    // What is composed of an undefined map has no results that could be told apart.
    if first.map.is_undefined() || then.map.is_undefined() {
        return Err(weft_indexing::Error::Undefined.into());
    }
    let steps = |map: &ElementMap| map.replica_id.as_ref().map(|id| id.steps.clone()).unwrap_or_default();
    let (mut asked, held) = (steps(first), steps(then));
    let is_one_group = match (asked.last(), held.first()) {
        (Some(last), Some(next)) => {
            last.exchange == next.exchange && matches!(next.exchange.participants, Participants::Group(_))
        }
        _ => false,
    };
    // Which member of a group is asked is rewritten as the results of the map are.
    let mut further = then.map.clone();
    further.extend_results(held.iter().map(|step| step.member.clone()))?;
    let mut map = if asked.is_empty() {
        first.map.then(&further)?
    } else {
        let mut leading = first.map.clone();
        leading.extend_results(asked.iter().map(|step| step.member.clone()))?;
        move_to_replica(&mut further, &asked, is_one_group, owners)?;
        leading.then(&further)?
    };
    let members = map.split_off_results(then.map.results().len());
    if is_one_group {
        asked.pop();
    }
    asked.extend(held.into_iter().zip(members).map(|(step, member)| ExchangeStep { member, ..step }));
    let replica_id = if asked.is_empty() { None } else { Some(ReplicaId { steps: asked }) };
    let mut composed = ElementMap { map, coarse: first.coarse.or(then.coarse), replica_id };
    composed.simplify_knowing(&mut |owner, element| known.value(owners, owner, element));
    Ok(composed)
}

/// The map as the one that asks sees it, where `asked` lead to the replica on which it holds: the members asked are further
/// dimensions of the map. Where that replica was asked as a member of the group that it asks in turn, its position there is
/// known.
fn move_to_replica(
    map: &mut IndexingMap,
    asked: &[ExchangeStep],
    is_one_group: bool,
    owners: &mut Owners,
) -> Result<(), Undefined> {
    let member = |_| Ok(Expr::var(map.add_dim(Variable::new(Interval::EVERYTHING))?));
    let members = asked.iter().map(member).collect::<Result<Vec<Expr>, Undefined>>()?;
    let exchanges: Vec<_> = asked.iter().map(|step| step.exchange.clone()).collect();
    let mut known = Vec::new();
    let mut runtime = map.runtime().to_vec();
    for (position, variable) in runtime.iter_mut().enumerate() {
        let Some(owner) = variable.owner() else { continue };
        let Some(source) = owners.source(owner) else { continue };
        if is_one_group && source.number == Number::Position && source.exchanges.is_empty() {
            known.push(number(position));
            continue;
        }
        let mut access = variable.access().to_vec();
        let of_element = access.len().saturating_sub(source.exchanges.len());
        access.splice(of_element..of_element, members.iter().cloned());
        *variable = variable.clone().with_access(access).with_owner(owners.elsewhere(owner, &exchanges));
    }
    map.set_runtime(runtime)?;
    let Some(own) = members.last().filter(|_| !known.is_empty()) else { return Ok(()) };
    for position in known {
        map.replace_runtime_variable(position, own)?;
    }
    Ok(())
}
