//! The states of a device, and what it draws in each.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::InputError;
use crate::base::units::Time;
use crate::base::units::power::{Energy, Power};

/// Declares the states once: the enum, its names, and how many there are.
macro_rules! states {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// What a device is at, as its power goes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum PowerState { $($(#[$doc])* $variant,)* }

        impl PowerState {
            /// Every state.
            pub const ALL: &'static [PowerState] = &[$(PowerState::$variant,)*];
            /// How many states there are.
            pub const COUNT: usize = PowerState::ALL.len();
            /// The state's name in specs and in results.
            pub const fn name(self) -> &'static str {
                match self { $(PowerState::$variant => $name,)* }
            }
        }
    };
}
states! {
    /// At work.
    Active = "active",
    /// At rest, ready at once.
    Idle = "idle",
    /// A disk with less of its electronics powered: IDLE_A of ATA and SCSI.
    IdleA = "idle_a",
    /// A disk with its heads unloaded, at full speed: IDLE_B.
    IdleB = "idle_b",
    /// A disk with its heads unloaded, at a lower speed: IDLE_C.
    IdleC = "idle_c",
    /// A disk that is stopped, with electronics for a quicker start: STANDBY_Y.
    StandbyY = "standby_y",
    /// A disk that is stopped: STANDBY_Z.
    StandbyZ = "standby_z",
    /// An SSD whose link sleeps: SLUMBER of Serial ATA, or the first non-operational state of NVMe.
    Slumber = "slumber",
    /// An SSD that is all but off: DEVSLEEP of Serial ATA, or the last non-operational state of NVMe.
    DevSleep = "devsleep",
    /// On its way into a state in which the disk turns, or into a state of an SSD.
    Unload = "unload",
    /// On its way back from there.
    Load = "load",
    /// On its way into standby.
    SpinDown = "spin_down",
    /// On its way back from standby.
    SpinUp = "spin_up",
}

impl PowerState {
    /// Whether a disk is stopped in it.
    pub const fn is_standby(self) -> bool {
        matches!(self, PowerState::StandbyY | PowerState::StandbyZ)
    }
    /// Whether a disk's heads are off the platters in it.
    pub const fn is_unloaded(self) -> bool {
        matches!(self, PowerState::IdleB | PowerState::IdleC) || self.is_standby()
    }
    /// The state of the way into it.
    pub const fn way_in(self) -> PowerState {
        match self.is_standby() {
            true => PowerState::SpinDown,
            false => PowerState::Unload,
        }
    }
    /// The state of the way back from it.
    pub const fn way_out(self) -> PowerState {
        match self.is_standby() {
            true => PowerState::SpinUp,
            false => PowerState::Load,
        }
    }
}

/// The way into a low power state, or back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Transition {
    /// How long it takes.
    pub time: Time,
    /// Its mean power; that of `idle` where neither this nor `energy` is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power: Option<Power>,
    /// Its energy, in place of its mean power.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy: Option<Energy>,
    /// The highest power on the way, for the power supply: in no energy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak: Option<Power>,
}

/// A low power state of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StateFigures {
    /// The power in this state.
    pub power: Power,
    /// The way into it; none takes no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enter: Option<Transition>,
    /// The way back; none takes no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leave: Option<Transition>,
}

/// What a hard disk draws. Powers are of the whole drive, and means.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HddPowerFigures {
    /// At rest at full speed, with the heads over a track.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle: Option<Power>,
    /// While an arm moves; as idle where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seek: Option<Power>,
    /// While sectors are read; as idle where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<Power>,
    /// While sectors are written; as idle where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<Power>,
    /// Less of the electronics powered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_a: Option<StateFigures>,
    /// Heads unloaded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_b: Option<StateFigures>,
    /// Heads unloaded, and a lower speed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_c: Option<StateFigures>,
    /// Stopped, with electronics for a quicker start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standby_y: Option<StateFigures>,
    /// Stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standby_z: Option<StateFigures>,
}

/// What an SSD draws. Powers are of the whole drive, and means.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SsdPowerFigures {
    /// At rest, ready at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle: Option<Power>,
    /// While it reads; as idle where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<Power>,
    /// While it writes or erases; as idle where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<Power>,
    /// The link sleeps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slumber: Option<StateFigures>,
    /// All but off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub devsleep: Option<StateFigures>,
}

/// A low power state, with its energies worked out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LowState {
    /// Which one.
    pub state: PowerState,
    /// The power in this state.
    pub power: Power,
    /// How long the way in takes, and its energy, fJ.
    pub enter: (Time, u128),
    /// The same of the way back.
    pub leave: (Time, u128),
}

impl LowState {
    fn of(state: PowerState, figures: &StateFigures, idle: Power) -> LowState {
        let way = |way: Option<Transition>| {
            let way = way.unwrap_or_default();
            let energy = match way.energy {
                Some(energy) => energy.femtojoules(),
                None => way.power.unwrap_or(idle).over(way.time),
            };
            (way.time, energy)
        };
        LowState {
            state,
            power: figures.power,
            enter: way(figures.enter),
            leave: way(figures.leave),
        }
    }

    /// The energy of an idle period of a length of which the drive goes into this state at once, fJ: back at its end, unless it ends with
    /// the run. `None` where the period is too short for that.
    pub fn energy(&self, length: Time, comes_back: bool) -> Option<u128> {
        let (enter, leave) = (self.enter.0, self.leave.0);
        let ways = match comes_back {
            true => enter + leave,
            false => enter,
        };
        let stay = (length >= ways).then(|| length - ways)?;
        let back = if comes_back { self.leave.1 } else { 0 };
        Some(self.enter.1 + self.power.over(stay) + back)
    }

    /// The shortest idle period that takes no more energy with this state than without, to the nanosecond; `None` where none does.
    pub fn break_even(&self, idle: Power) -> Option<Time> {
        let ways = self.enter.0 + self.leave.0;
        // E_enter + E_leave + low (t − ways) <= idle t.
        let fixed = self.enter.1 + self.leave.1;
        let saved = self.power.over(ways);
        if fixed <= idle.over(ways) {
            return Some(ways);
        }
        let gain = idle.microwatts().checked_sub(self.power.microwatts())?;
        let needed = fixed.saturating_sub(saved);
        let ns = needed.checked_add(u128::from(gain).checked_sub(1)?)? / u128::from(gain);
        Some(Time::from_ns(u64::try_from(ns).ok()?).max(ways))
    }
}

/// What a device draws, whatever kind it is.
#[derive(Clone, Debug)]
pub struct PowerFigures {
    /// At rest.
    pub idle: Power,
    /// Its low power states, from the shallowest on.
    pub low: Vec<LowState>,
}

/// A policy for a device of which nobody says what it draws, in a state such as this.
pub fn no_figures(state: &str) -> InputError {
    InputError::new("the drive has no figures of its power").help(format!(
        "give them beside policy: figures = {{ idle = \"…\", {state} = {{ power = \"…\" }} }}"
    ))
}

/// The longest way into a state or back.
const LONGEST_WAY: Time = Time::from_s(600);

impl PowerFigures {
    fn of(
        idle: Option<Power>,
        states: &[(PowerState, &Option<StateFigures>)],
    ) -> Result<PowerFigures, InputError> {
        let idle = idle.ok_or_else(|| {
            InputError::new("figures of power without that of idle")
                .help("write idle = \"…\", what the drive draws at rest, such as \"1.1 W\"")
        })?;
        for (state, figures) in states {
            let Some(figures) = figures else { continue };
            for (name, way) in [("enter", figures.enter), ("leave", figures.leave)] {
                let Some(way) = way else { continue };
                let what = || format!("{name} of {}", state.name());
                if way.power.is_some() && way.energy.is_some() {
                    return Err(
                        InputError::new(format!("{} has both power and energy", what()))
                            .help("write its mean power or its energy, not both"),
                    );
                }
                if way.time == Time::ZERO
                    && way.energy.is_some_and(|energy| energy != Energy::default())
                {
                    return Err(
                        InputError::new(format!("{} has energy over no time", what()))
                            .help("give it a time"),
                    );
                }
                if way.time > LONGEST_WAY {
                    return Err(InputError::new(format!("{} takes {}", what(), way.time))
                        .help(format!("it takes at most {LONGEST_WAY}")));
                }
            }
        }
        let low = states.iter().filter_map(|(state, figures)| {
            let figures = figures.as_ref()?;
            Some(LowState::of(*state, figures, idle))
        });
        Ok(PowerFigures {
            idle,
            low: low.collect(),
        })
    }

    /// The place in [`low`](Self::low) of a state.
    pub fn place(&self, state: PowerState) -> Option<usize> {
        self.low.iter().position(|low| low.state == state)
    }
}

/// The figures of `over`, and those of `under` where it has none.
macro_rules! laid_over {
    ($over:ident, $under:ident: $type:ident { $($key:ident),* }) => {
        $type { $($key: $over.$key.or($under.$key),)* }
    };
}

impl HddPowerFigures {
    /// These figures, and those of a drive for what they leave out.
    #[must_use]
    pub fn over(&self, drive: &HddPowerFigures) -> HddPowerFigures {
        laid_over!(self, drive: HddPowerFigures {
            idle, seek, read, write, idle_a, idle_b, idle_c, standby_y, standby_z
        })
    }

    /// What the states draw.
    ///
    /// # Errors
    /// No figure of idle, a transition with both power and energy or of more than ten minutes.
    pub fn figures(&self) -> Result<PowerFigures, InputError> {
        let states = [
            (PowerState::IdleA, &self.idle_a),
            (PowerState::IdleB, &self.idle_b),
            (PowerState::IdleC, &self.idle_c),
            (PowerState::StandbyY, &self.standby_y),
            (PowerState::StandbyZ, &self.standby_z),
        ];
        PowerFigures::of(self.idle, &states)
    }
}

impl SsdPowerFigures {
    /// These figures, and those of a drive for what they leave out.
    #[must_use]
    pub fn over(&self, drive: &SsdPowerFigures) -> SsdPowerFigures {
        laid_over!(self, drive: SsdPowerFigures { idle, read, write, slumber, devsleep })
    }

    /// What the states draw.
    ///
    /// # Errors
    /// Those of [`HddPowerFigures::figures`].
    pub fn figures(&self) -> Result<PowerFigures, InputError> {
        let states = [
            (PowerState::Slumber, &self.slumber),
            (PowerState::DevSleep, &self.devsleep),
        ];
        PowerFigures::of(self.idle, &states)
    }
}
