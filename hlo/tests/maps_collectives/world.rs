//! Devices, replicas, partitions and groups of a program.

use weft_hlo::indexing::Ids;
use weft_hlo::ir::ReplicaGroups;
use weft_hlo::random::Rng;

/// The devices that run a program; device `r * partitions + p` is partition `p` of replica `r`.
#[derive(Copy, Clone, Debug)]
pub(crate) struct World {
    pub(crate) replicas: usize,
    pub(crate) partitions: usize,
}

/// Groups of a collective.
#[derive(Clone, Debug)]
pub(crate) struct Groups {
    /// Attributes that say them.
    pub(crate) text: String,
    /// The devices of each group.
    pub(crate) devices: Vec<Vec<usize>>,
}

/// What groups a collective takes.
#[derive(Copy, Clone, PartialEq)]
pub(crate) enum Wanted {
    /// Everybody is in one, and all are of one size.
    Even,
    /// Everybody is in one.
    Cover,
    /// Not everybody need be in one.
    Some,
}

impl World {
    pub(crate) fn any(rng: &mut Rng) -> World {
        let worlds = [(4, 1), (6, 1), (1, 4), (2, 2), (2, 3), (1, 1)];
        let (replicas, partitions) = worlds[rng.below(worlds.len())];
        World { replicas, partitions }
    }

    pub(crate) fn devices(self) -> usize {
        self.replicas * self.partitions
    }

    /// How many numbers there are of a kind.
    pub(crate) fn count(self, ids: Ids) -> usize {
        match ids {
            Ids::Replicas | Ids::ReplicasWithPartitions => self.replicas,
            Ids::Partitions => self.partitions,
            Ids::Devices => self.devices(),
        }
    }

    /// The devices of groups of numbers.
    pub(crate) fn groups(self, ids: Ids, lists: &[Vec<usize>]) -> Vec<Vec<usize>> {
        let device = |replica: usize, partition: usize| replica * self.partitions + partition;
        let mut found = Vec::new();
        for list in lists {
            match ids {
                Ids::Devices => found.push(list.clone()),
                Ids::Replicas => {
                    for partition in 0..self.partitions {
                        found.push(list.iter().map(|&replica| device(replica, partition)).collect());
                    }
                }
                Ids::Partitions => {
                    for replica in 0..self.replicas {
                        found.push(list.iter().map(|&partition| device(replica, partition)).collect());
                    }
                }
                Ids::ReplicasWithPartitions => {
                    let mut group = Vec::new();
                    for &replica in list {
                        for partition in 0..self.partitions {
                            group.push(device(replica, partition));
                        }
                    }
                    found.push(group);
                }
            }
        }
        found
    }

    /// The groups of an attribute.
    pub(crate) fn read(self, ids: Ids, groups: &ReplicaGroups) -> Vec<Vec<usize>> {
        let natural = |number: &i64| usize::try_from(*number).expect("members are at least 0");
        let lists: Vec<Vec<usize>> = match groups {
            ReplicaGroups::List(groups) if groups.is_empty() => vec![(0..self.count(ids)).collect()],
            ReplicaGroups::List(groups) => groups.iter().map(|group| group.iter().map(natural).collect()).collect(),
            ReplicaGroups::Iota { dimensions, reshape, transpose } => {
                let extents: Vec<usize> = reshape.iter().map(natural).collect();
                let order: Vec<usize> = if transpose.is_empty() {
                    (0..extents.len()).collect()
                } else {
                    transpose.iter().map(natural).collect()
                };
                laid_out(&extents, &order).chunks(natural(&dimensions[1])).map(<[usize]>::to_vec).collect()
            }
            other => panic!("there is no {other}"),
        };
        self.groups(ids, &lists)
    }

    /// Groups with the numbers of a kind, and the attributes that say so.
    pub(crate) fn random_groups(self, rng: &mut Rng, ids: Ids, wanted: Wanted, channel: &str) -> Groups {
        let count = self.count(ids);
        let mut members: Vec<usize> = (0..count).collect();
        let sizes: Vec<usize> = (1..=count).filter(|size| count.is_multiple_of(*size)).collect();
        let size = sizes[rng.below(sizes.len())];
        let form = rng.below(4);
        let (text, lists) = if form == 0 && ids != Ids::Devices {
            ("{}".to_owned(), vec![members])
        } else if form == 1 {
            let extents = [count / size, size];
            let is_turned = rng.chance(50);
            let order = if is_turned { [1, 0] } else { [0, 1] };
            let numbers = if is_turned { format!("[{},{size}]T(1,0)", extents[0]) } else { format!("[{count}]") };
            // What is laid out in rows may be cut into other rows.
            let rows = sizes[rng.below(sizes.len())];
            let text = format!("[{},{rows}]<={numbers}", count / rows);
            (text, laid_out(&extents, &order).chunks(rows).map(<[usize]>::to_vec).collect())
        } else {
            if rng.chance(60) {
                rng.shuffle(&mut members);
            }
            let mut lists: Vec<Vec<usize>> = Vec::new();
            if wanted == Wanted::Even {
                lists = members.chunks(size).map(<[usize]>::to_vec).collect();
            } else {
                while !members.is_empty() {
                    let rest = members.split_off((1 + rng.below(3)).min(members.len()));
                    lists.push(std::mem::replace(&mut members, rest));
                }
                if wanted == Wanted::Some && lists.len() > 1 {
                    lists.pop();
                }
            }
            let list = |group: &Vec<usize>| group.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
            let texts: Vec<String> = lists.iter().map(|group| format!("{{{}}}", list(group))).collect();
            (format!("{{{}}}", texts.join(",")), lists)
        };
        Groups { text: format!("replica_groups={text}{channel}"), devices: self.groups(ids, &lists) }
    }
}

/// The numbers from 0 on in an array of these extents, read in another order of its dimensions.
fn laid_out(extents: &[usize], order: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; extents.len()];
    for dimension in (1..extents.len()).rev() {
        strides[dimension - 1] = strides[dimension] * extents[dimension];
    }
    let mut numbers = vec![0];
    for &dimension in order {
        let step = |number: usize| (0..extents[dimension]).map(move |i| (number, i));
        numbers = numbers.into_iter().flat_map(step).map(|(number, i)| number + i * strides[dimension]).collect();
    }
    numbers
}
