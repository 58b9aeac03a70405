//! What a spec or a drive's file says of the drive's arms.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::InputError;
use crate::base::units::angle::Angle;
use crate::models::geometry::layout::Layout;
use crate::models::geometry::mechanics::Reach;
use crate::models::placement::arm_choice::ArmChoiceSpec;

/// The most arms of a drive.
const MOST: usize = 64;

/// The arms of a drive, and which of them serves what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArmsSpec {
    /// Whether arms move one at a time or each by itself.
    #[serde(default)]
    pub motion: ArmMotion,
    /// The arms, from number 0 on.
    pub arm: Vec<ArmSpec>,
}

/// Whether the arms of a drive move and transfer at the same time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ArmMotion {
    /// One arm moves or transfers at a time; the others hold their cylinders.
    #[default]
    OneAtATime,
    /// Every arm serves a request of its own. Two arms must then serve the same requests, or none in common.
    Independent,
}

/// One arm with its heads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ArmSpec {
    /// Where its heads stand around the spindle, in turns from the first arm's, the way the platters turn.
    #[schemars(with = "f64", range(min = 0.0, max = 1.0))]
    pub angle: f64,
    /// Whether its heads can read.
    pub reads: bool,
    /// Whether its heads can write.
    pub writes: bool,
    /// The first and the last surface that it reaches; all where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub surfaces: Option<(u32, u32)>,
    /// The first and the last cylinder that it reaches; all where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cylinders: Option<(u32, u32)>,
    /// The cylinder where it is at time zero; the first that it reaches where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<u32>,
}

impl Default for ArmSpec {
    fn default() -> ArmSpec {
        ArmSpec {
            angle: 0.0,
            reads: true,
            writes: true,
            surfaces: None,
            cylinders: None,
            start: None,
        }
    }
}

/// An arm, checked.
#[derive(Clone, Copy, Debug)]
pub struct ArmParts {
    /// Around the spindle.
    pub angle: Angle,
    /// Whether its heads can read.
    pub reads: bool,
    /// Whether its heads can write.
    pub writes: bool,
    /// What it reaches.
    pub reach: Reach,
    /// The cylinder where it is at time zero.
    pub start: u32,
}

impl ArmsSpec {
    /// A single arm that can do everything.
    pub fn one() -> ArmsSpec {
        ArmsSpec {
            motion: ArmMotion::OneAtATime,
            arm: vec![ArmSpec::default()],
        }
    }

    /// The arms of a drive with this layout.
    ///
    /// # Errors
    /// No arm or too many, values out of range, a track that no arm reads or writes, independent arms that share some requests but not
    /// all.
    pub fn build(&self, layout: &Layout) -> Result<Vec<ArmParts>, InputError> {
        if self.arm.is_empty() || self.arm.len() > MOST {
            return Err(
                InputError::new(format!("a drive with {} arms", self.arm.len()))
                    .help(format!("accepted: 1 to {MOST} entries under \"arm\"")),
            );
        }
        let arms: Vec<ArmParts> = (0..)
            .zip(&self.arm)
            .map(|(number, arm)| arm.build(number, layout))
            .collect::<Result<_, _>>()?;
        for (can, verb) in [
            ((|arm| arm.reads) as fn(&ArmParts) -> bool, "reads"),
            (|arm| arm.writes, "writes"),
        ] {
            if let Some((cylinder, head)) = unreached(&arms, can, layout) {
                return Err(InputError::new(format!(
                    "no arm {verb} surface {head} of cylinder {cylinder}"
                ))
                .help("every track must be reached by an arm that reads and by one that writes"));
            }
        }
        if self.motion == ArmMotion::Independent {
            check_independent(&arms)?;
        }
        Ok(arms)
    }
}

impl ArmSpec {
    fn build(&self, number: usize, layout: &Layout) -> Result<ArmParts, InputError> {
        let wrong = |message: String, help: String| {
            Err(InputError::new(format!("arm {number} {message}")).help(help))
        };
        let Some(angle) = Angle::from_turns(self.angle) else {
            return wrong(
                format!("at an angle of {} turns", self.angle),
                "accepted: a part of a turn from 0 to below 1; 0.5 is opposite the first arm"
                    .into(),
            );
        };
        let ranges = [
            ("surfaces", self.surfaces, layout.surfaces()),
            ("cylinders", self.cylinders, layout.cylinders()),
        ];
        for (what, range, count) in ranges {
            if let Some((first, last)) = range
                && (first > last || last >= count)
            {
                return wrong(
                    format!("reaches the {what} {first} to {last}"),
                    format!("the drive has {what} 0 to {}", count - 1),
                );
            }
        }
        let cylinders = self.cylinders.unwrap_or((0, layout.cylinders() - 1));
        let start = self.start.unwrap_or(cylinders.0);
        if !(cylinders.0..=cylinders.1).contains(&start) {
            return wrong(
                format!("begins at cylinder {start}"),
                format!("it reaches {} to {}", cylinders.0, cylinders.1),
            );
        }
        Ok(ArmParts {
            angle,
            reads: self.reads,
            writes: self.writes,
            reach: Reach {
                heads: self.surfaces.unwrap_or((0, layout.surfaces() - 1)),
                cylinders,
            },
            start,
        })
    }
}

/// A track that no arm with an ability reaches.
fn unreached(
    arms: &[ArmParts],
    can: impl Fn(&ArmParts) -> bool,
    layout: &Layout,
) -> Option<(u32, u32)> {
    let able = || arms.iter().filter(|arm| can(arm));
    // What is reached changes only where some arm's reach begins or has ended.
    let edges =
        |first: u32, last: u32, end: u32| [first, last + 1].into_iter().filter(move |&at| at < end);
    let cylinders = able()
        .flat_map(|arm| {
            edges(
                arm.reach.cylinders.0,
                arm.reach.cylinders.1,
                layout.cylinders(),
            )
        })
        .chain([0]);
    let heads: Vec<u32> = able()
        .flat_map(|arm| edges(arm.reach.heads.0, arm.reach.heads.1, layout.surfaces()))
        .chain([0])
        .collect();
    cylinders
        .flat_map(|cylinder| heads.iter().map(move |&head| (cylinder, head)))
        .find(|&(cylinder, head)| !able().any(|arm| arm.reach.holds(cylinder, head)))
}

/// Independent arms have a queue in common or nothing.
fn check_independent(arms: &[ArmParts]) -> Result<(), InputError> {
    for (second, b) in arms.iter().enumerate() {
        for (first, a) in arms[..second].iter().enumerate() {
            let same = (a.reads, a.writes, a.reach) == (b.reads, b.writes, b.reach);
            let meets = |x: (u32, u32), y: (u32, u32)| x.0 <= y.1 && y.0 <= x.1;
            let shares = (a.reads && b.reads || a.writes && b.writes)
                && meets(a.reach.heads, b.reach.heads)
                && meets(a.reach.cylinders, b.reach.cylinders);
            if shares && !same {
                return Err(InputError::new(format!(
                    "the independent arms {first} and {second} serve some requests both, others not"
                ))
                .help(
                    "give them the same reads, writes, surfaces and cylinders, or nothing in common; or motion = \"one-at-a-time\"",
                ));
            }
        }
    }
    Ok(())
}

/// What a spec says of a drive's arms: other arms than the drive's, and which of them serves what.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ArmsOfSpec {
    /// Whether arms move one at a time or each by itself; the drive's own way, or one at a time, where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub motion: Option<ArmMotion>,
    /// Which arm serves an access.
    pub choice: ArmChoiceSpec,
    /// The arms, from number 0 on; the drive's own where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arm: Option<Vec<ArmSpec>>,
}

impl ArmsOfSpec {
    /// The arms, those of the `drive` as far as nothing else is said.
    pub fn resolve(&self, drive: Option<&ArmsSpec>) -> ArmsSpec {
        let one = ArmsSpec::one();
        let of_drive = drive.unwrap_or(&one);
        ArmsSpec {
            motion: self.motion.unwrap_or(of_drive.motion),
            arm: self.arm.clone().unwrap_or_else(|| of_drive.arm.clone()),
        }
    }
}
