//! Sets of schedules.

use super::{DeviceKind, Target};
use std::fmt;
use std::str::FromStr;

/// A set of schedules: the forms of loops, tiles and launches that kernels are given, where a device could run several.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
pub enum Schedule {
    /// Many invocations that read side by side and share workgroup memory.
    Gpu,
    /// Few invocations, each of which reads for itself, and no barriers: an invocation runs on a core of the host, next to a few others.
    Software,
}

impl Schedule {
    /// Both of them.
    pub const ALL: [Schedule; 2] = [Schedule::Gpu, Schedule::Software];

    /// Its name in one word, as [`Display`](fmt::Display), JSON and the command line write it.
    pub fn name(self) -> &'static str {
        match self {
            Schedule::Gpu => "gpu",
            Schedule::Software => "software",
        }
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Schedule {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Schedule::ALL.into_iter().find(|schedule| schedule.name() == name);
        found.ok_or_else(|| format!("there is no schedule '{name}'; there are: gpu, software"))
    }
}

impl Target {
    /// The schedules that kernels are given: those that are [asked for](Target::schedule), or else those of the kind of device.
    pub fn effective_schedule(&self) -> Schedule {
        self.schedule.unwrap_or(match self.kind {
            DeviceKind::Software => Schedule::Software,
            DeviceKind::Discrete | DeviceKind::Integrated | DeviceKind::Virtual | DeviceKind::Unknown => Schedule::Gpu,
        })
    }

    /// Whether kernels are given the schedules of devices in software.
    pub(crate) fn is_software(&self) -> bool {
        self.effective_schedule() == Schedule::Software
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_decides_unless_a_schedule_is_asked_for() {
        let software = Target::default().with(|target| target.kind = DeviceKind::Software);
        assert_eq!(Target::default().effective_schedule(), Schedule::Gpu);
        assert_eq!(software.effective_schedule(), Schedule::Software);
        for schedule in Schedule::ALL {
            assert_eq!(software.clone().with(|it| it.schedule = Some(schedule)).effective_schedule(), schedule);
            assert_eq!(schedule.name().parse(), Ok(schedule));
        }
        assert!("cpu".parse::<Schedule>().is_err());
    }
}
