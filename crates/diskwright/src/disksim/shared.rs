//! Devices behind one controller of type 3: one device, with the controller's queues and its one cache.

use serde_json::Value;

use super::component::Component;
use super::organisations::{Member, Organised, Part};
use super::warnings::Warnings;
use crate::base::units::Size;

/// The device behind the driver and the controller of a member.
const BEHIND: &str = "/driver/device/controller/device";
/// What says that a controller caches its first device.
const CACHE: &str = "/driver/device/controller/cache";

/// The devices behind one controller.
pub(super) struct Group<'m> {
    pub(super) controller: &'m Component,
    pub(super) members: Vec<&'m Member>,
}

/// Makes one device of those that are behind one controller and that no array takes to pieces; tells where that could not be done.
pub(super) fn unite(organised: &mut Vec<Organised>, groups: &[Group<'_>], warnings: &mut Warnings) {
    for group in groups {
        let is_used = |member: &&&Member| organised.iter().any(|one| holds(&one.device, member));
        let mut members: Vec<&Member> = group.members.iter().filter(is_used).copied().collect();
        if members.len() < 2 {
            continue;
        }
        let is_alone = |member: &&Member| organised.iter().any(|one| one.device == member.device);
        if !members.iter().all(is_alone) {
            let how =
                "in an array each has a controller with such a queue and such a cache of its own";
            tell(group.controller, &members, how, warnings);
            continue;
        }
        // A cache device caches the first one.
        members.sort_by_key(|member| member.device.pointer(CACHE).is_none());
        let (united, parts) = together(&members, organised);
        let is_of_it = |one: &Organised| members.iter().any(|member| one.device == member.device);
        let at = organised.iter().position(is_of_it).unwrap_or(0);
        organised.retain(|one| !is_of_it(one));
        let blocks = members.iter().map(|member| member.blocks).sum();
        organised.insert(
            at,
            Organised {
                device: united,
                blocks,
                parts,
            },
        );
        let how = "the driver has one queue for them here, by their blocks one after the other";
        tell(group.controller, &members, how, warnings);
    }
}

/// Whether a device is a member, or has it somewhere below.
fn holds(device: &Value, member: &Member) -> bool {
    let below = |value: &Value| holds(value, member);
    *device == member.device
        || match device {
            Value::Object(entries) => entries.values().any(below),
            Value::Array(values) => values.iter().any(below),
            _ => false,
        }
}

/// Members as one device, and which numbers of devices are where in it.
fn together(members: &[&Member], organised: &[Organised]) -> (Value, Vec<Part>) {
    let mut united = members[0].device.clone();
    let (mut parts, mut begin) = (Vec::new(), 0);
    for member in members {
        let own = organised.iter().filter(|one| one.device == member.device);
        for part in own.flat_map(|one| &one.parts) {
            parts.push(Part {
                offset: begin + part.offset,
                ..*part
            });
        }
        begin += member.blocks;
    }
    let others = members[1..].iter();
    let others = others.filter_map(|member| member.device.pointer(BEHIND)?.as_array());
    let others: Vec<Value> = others.flatten().cloned().collect();
    if let Some(Value::Array(devices)) = united.pointer_mut(BEHIND) {
        devices.extend(others);
    }
    let names: Vec<&str> = members.iter().map(|member| member.name.as_str()).collect();
    united["driver"]["name"] = names.join(", ").into();
    let cached = united
        .pointer_mut(CACHE)
        .and_then(|cache| cache.get_mut("size"));
    if let Some(size) = cached
        && let Ok(all) = serde_json::from_value::<Size>(size.clone())
        && all.blocks() > members[0].blocks
    {
        // Of the others nothing is cached.
        *size = format!("{} blocks", members[0].blocks).into();
    }
    (united, parts)
}

fn tell(controller: &Component, members: &[&Member], how: &str, warnings: &mut Warnings) {
    let names: Vec<&str> = members.iter().map(|member| member.name.as_str()).collect();
    let names = names.join(" and ");
    let title = controller.title();
    warnings.push(&controller.at, format_args!("{names} share {title}: {how}"));
}
