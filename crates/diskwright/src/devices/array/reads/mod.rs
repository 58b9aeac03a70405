//! Which member of a mirror a read goes to.

mod first;
mod least_outstanding;
mod nearest;
mod round_robin;

use super::Member;
use crate::base::registry::{policies, schema_of_family};
use crate::base::units::Lbn;
use crate::engine::request::Command;

policies! {
    /// A choice of a mirror's member and its parameters, as a spec names it.
    pub enum ReadSpec of "read" builds Box<dyn Read> {
        LeastOutstanding = "least-outstanding" [] formerly ["soonest-idle"] in least_outstanding::LeastOutstanding,
        RoundRobin = "round-robin" [] in round_robin::RoundRobin,
        Nearest = "nearest" [] in nearest::Nearest,
        First = "first" [] in first::First,
    }
}

impl Default for ReadSpec {
    fn default() -> ReadSpec {
        ReadSpec::LeastOutstanding(least_outstanding::LeastOutstanding {})
    }
}

schema_of_family!(
    ReadSpec,
    "MirrorRead",
    "Which member of a mirror a read goes to."
);

/// A rule that chooses the member for a read.
pub trait Read: Send {
    /// One of the members, of which there is at least one; those that have failed are not among them.
    fn choose(&mut self, command: &Command, members: &[Member]) -> usize;
}

/// How far a member's last request ended from the block where the next one begins.
fn distance(member: &Member, to: Lbn) -> u64 {
    member.head.0.abs_diff(to.0)
}

/// The member with the least of something; of several the first.
fn least<K: Ord>(members: &[Member], of: impl Fn(&Member) -> K) -> usize {
    let members = members.iter().enumerate();
    let least = members.min_by_key(|(_, member)| of(member));
    least.expect("a mirror has a member").0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::request::{DeviceId, Op};

    /// A policy's choices among members, each with its outstanding requests and its head's block, for reads of block 100.
    fn chosen(spec: &ReadSpec, members: &[(u32, u64)], times: usize) -> Vec<usize> {
        let member = |(device, &(outstanding, head)): (u32, &(u32, u64))| Member {
            device: DeviceId(device),
            outstanding,
            head: Lbn(head),
            has_failed: false,
        };
        let members: Vec<Member> = (0..).zip(members).map(member).collect();
        let command = Command {
            op: Op::Read,
            fua: false,
            lbn: Lbn(100),
            blocks: 8,
        };
        let mut policy = spec.build();
        (0..times)
            .map(|_| policy.choose(&command, &members))
            .collect()
    }

    fn named(name: &str) -> ReadSpec {
        serde_json::from_value(serde_json::json!({ name: {} })).expect("a name")
    }

    #[test]
    fn each_policy_keeps_its_rule() {
        let members = [(2, 100), (1, 500), (1, 0), (1, 200)];
        for (name, expected) in [
            ("least-outstanding", [2, 2, 2, 2, 2]),
            ("nearest", [0; 5]),
            ("first", [0; 5]),
            ("round-robin", [0, 1, 2, 3, 0]),
        ] {
            assert_eq!(chosen(&named(name), &members, 5), expected, "{name}");
        }
        assert_eq!(ReadSpec::default().name(), "least-outstanding");
        assert_eq!(ReadSpec::NAMES.len(), 4, "a new policy has a row here");
    }

    #[test]
    fn a_former_name_is_read_and_not_shown() {
        let former = named("soonest-idle");
        assert_eq!(former.name(), "least-outstanding");
        let error = serde_json::from_str::<ReadSpec>("{\"sonest-idle\": {}}").unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains("least-outstanding") && !text.contains("soonest-idle"),
            "{text}"
        );
    }

    #[test]
    fn ties_go_to_the_shorter_queue_and_then_to_the_first() {
        let twice_as_near = [(3, 90), (2, 110), (2, 90)];
        assert_eq!(chosen(&named("nearest"), &twice_as_near, 1), [1]);
        assert_eq!(chosen(&named("least-outstanding"), &twice_as_near, 1), [1]);
        for name in ReadSpec::NAMES {
            assert_eq!(chosen(&named(name), &[(0, 0)], 3), [0; 3], "{name}");
        }
    }
}
