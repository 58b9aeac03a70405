//! What every device is. What it may do while it handles something is in [`Context`].

use serde_json::{Map, Value};

use crate::base::units::{Lbn, Time};
use crate::engine::access_times::AccessTimes;
use crate::engine::context::Context;
use crate::engine::request::{DeviceId, Part, Promise, RequestId};
use crate::engine::token::Token;
use crate::engine::window::ArmTraceWindow;

/// A running model that takes requests.
///
/// The engine calls [`accept`](Device::accept) once for each request submitted to the device, in the order
/// of submission; the device must [complete](Context::complete) each exactly once, at that instant or a
/// later one, after it has stamped acceptance and start and accounted for every nanosecond from
/// start to completion in the request's parts. A device never waits in real time and keeps no clock:
/// `cx.now()` is the only one. It knows its children's numbers and never its parent.
pub trait Device: Send {
    /// The devices that it submits requests to, which were built before it. Asked for once, before the run.
    fn children(&self) -> Vec<DeviceId> {
        Vec::new()
    }

    /// Does what comes before the run, and is in no count. Called once, at time zero, children before their parents. Alarms may be
    /// set here, and requests submitted.
    fn prepare(&mut self, cx: &mut Context<'_>) {
        let _ = cx;
    }

    /// A request arrives.
    fn accept(&mut self, request: RequestId, cx: &mut Context<'_>);

    /// An alarm that this device set is due.
    fn alarm(&mut self, token: Token, cx: &mut Context<'_>) {
        let _ = cx;
        unreachable!("{token:?} rang for a device that sets no alarm");
    }

    /// What was sent before [`Context::again`] was called has been handled.
    fn again(&mut self, _step: u32, _cx: &mut Context<'_>) {
        unreachable!("a device that asks for this handles it");
    }

    /// The instant is quiet: every alarm and message of it has been handled. Called after [`Context::wake`], so that
    /// a decision sees all that arrived in its instant.
    fn wake(&mut self, cx: &mut Context<'_>) {
        let _ = cx;
    }

    /// A request that this device submitted to a child is complete. The engine forgets it afterwards.
    fn child_completed(&mut self, child: DeviceId, request: RequestId, cx: &mut Context<'_>) {
        let _ = (request, cx);
        unreachable!("device {child:?} completed a request for a device that submits none");
    }

    /// How many requests wait at `now`, with everything of the instant handled, although what they wait for is free: an arm, a slot of the
    /// queue, room at a child. A device has none unless it forgets to go on: the checker asks after every instant, and a number above
    /// zero is a fault. `below` are the devices that were built before this one.
    fn neglected(&self, now: Time, below: &[Box<dyn Device>]) -> usize;

    /// A child whose queue was full has a free slot again. It has [announced](Context::announce_room) that within this instant.
    fn child_has_room(&mut self, child: DeviceId, cx: &mut Context<'_>) {
        let _ = (child, cx);
    }

    /// Its parent [has asked it](Context::stand_by) to stop its medium, as ATA's STANDBY IMMEDIATE does: once what it has to do is done, it
    /// goes to standby without waiting for a timeout. A request that arrives first cancels that. A device without figures of a standby does
    /// nothing.
    fn stand_by(&mut self, cx: &mut Context<'_>) {
        let _ = cx;
    }

    /// The host has begun to wait for a request that is under way here: it is [critical](crate::engine::request::Class) from now on. A device
    /// with queues of priorities moves it to the other one; one that has sent pieces of it on [makes them urgent](crate::engine::children::Children::make_urgent).
    fn made_urgent(&mut self, request: RequestId, cx: &mut Context<'_>) {
        let _ = (request, cx);
    }

    /// Something has gone wrong now.
    fn fault(&mut self, fault: Fault, cx: &mut Context<'_>) {
        let _ = (fault, cx);
    }

    /// What becomes of it when the power returns after an [outage](crate::engine::Injection::Outage).
    fn restart(&self) -> Restart {
        Restart::Unknown
    }

    /// The power has returned: nothing is under way here, and memory that loses its data with the power has lost them. Children before their
    /// parents. Called of devices that restart [in place](Restart::InPlace), in place of [`prepare`](Device::prepare).
    fn power_returned(&mut self, cx: &mut Context<'_>) {
        let _ = cx;
        unreachable!("a device that does not restart in place hears of no power");
    }

    /// What others may see at `now`; `below` are the devices that were built before this one, its children among them.
    fn status(&self, now: Time, below: &[Box<dyn Device>]) -> DeviceStatus;

    /// The same as [`DeviceStatus::is_down`] of its status.
    fn is_down(&self, now: Time, below: &[Box<dyn Device>]) -> bool {
        self.status(now, below).is_down
    }

    /// Where a copy of a block is, the copies being counted from 0; `None` where there is no such copy. Every copy there is may be
    /// read in place of every other.
    fn location(&self, lbn: Lbn, copy: u32) -> Option<Location> {
        (copy == 0).then_some(Location::Here(lbn))
    }

    /// Capacity in 512-byte blocks.
    fn blocks(&self) -> u64;

    /// What acknowledging a write promises.
    fn promise(&self) -> Promise {
        Promise::Durable
    }

    /// Whether it looks at what the host is going to ask: [`Context::foreseen`].
    fn looks_ahead(&self) -> bool {
        false
    }

    /// Its NV cache, where it has one: it then takes [commands to it](crate::engine::request::NvCacheCommand). The engine ends those to
    /// other devices with [`Refused`](crate::engine::request::Outcome::Refused).
    fn nv_cache(&self) -> Option<NvCacheFacts> {
        None
    }

    /// What its accesses are expected to take by distance, as a host would measure it; `None` where nothing is known of that.
    fn access_times(&self) -> Option<AccessTimes> {
        None
    }

    /// The parts that the time of its own requests may have, in the order of [`Part::ALL`]; none where its requests have the parts of its
    /// children's. Results tell of the parts that some device has.
    fn parts(&self) -> &'static [Part] {
        &[]
    }

    /// The warm-up has ended: what the results tell of this device begins at `now`. Counts, sums and extremes start anew, averages over time
    /// with what there is at that instant, and what is under way counts as busy from now on. What lasts is told of the whole life: wear,
    /// what is free, where data are. May be called more than once; the last call counts.
    fn measure_from(&mut self, now: Time);

    /// The last request of the load is complete: what the device does from now on, such as writing what it holds, is not of the time that was
    /// measured. Also called when the power is cut, and when the device fails. May be called more than once; the last call counts.
    fn measure_until(&mut self, now: Time) {
        let _ = now;
    }

    /// Counters and shares for the results, at the end of a run of which `elapsed` was measured.
    fn report(&self, elapsed: Time) -> Map<String, Value>;

    /// The same of its parts that are reported apart, each under a name behind the device's path.
    fn part_reports(&self, elapsed: Time) -> Vec<(&'static str, Map<String, Value>)> {
        let _ = elapsed;
        Vec::new()
    }

    /// What it drew: energy, the time in each power state, counted from the end of the warm-up, or from `from` on, an instant before all
    /// requests, and up to `to`, or to the end of what it did after that. `None` where it has no figures of its power.
    fn power_report(&self, from: Time, to: Time) -> Option<Map<String, Value>> {
        let _ = (from, to);
        None
    }

    /// From now on, collects what [`picture`](Device::picture) tells; over `window` also every step of what it does. Called
    /// before the run, where a picture is wanted.
    fn collect_picture(&mut self, window: Option<&ArmTraceWindow>) {
        let _ = window;
    }

    /// What a picture of the run shows of this device; `None` where it collects nothing.
    fn picture(&self) -> Option<Map<String, Value>> {
        None
    }

    /// What the results should warn of.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    /// What the user should know of it, without doubting the results.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// The warnings of its parts that are reported apart.
    fn part_warnings(&self) -> Vec<(&'static str, Vec<String>)> {
        Vec::new()
    }
}

/// What becomes of a device when the power returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restart {
    /// It is not modelled: runs in which the power returns are refused.
    Unknown,
    /// It keeps nothing but what its medium holds in place: it is as it was built. What it counts begins anew.
    Afresh,
    /// It [goes on](Device::power_returned) with what it has kept.
    InPlace,
}

/// What a host may know of a device with an NV cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NvCacheFacts {
    /// The child that is the medium.
    pub medium: DeviceId,
    /// The child that is the NV cache.
    pub flash: DeviceId,
    /// How many blocks the NV cache has room for.
    pub blocks: u64,
    /// What a command takes that only changes which blocks are pinned.
    pub command: Time,
}

/// Where a device has a copy of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// At this place of its own medium.
    Here(Lbn),
    /// At this place of a child.
    On(DeviceId, Lbn),
    /// It is not on any medium: the block is what it was before the run.
    Nowhere,
}

/// What goes wrong, as a device hears it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The power has failed: what is on no medium is lost, unless a capacitor brings it there, which the device tells the checker
    /// now. Nothing is called afterwards but [`Device::location`] and what is told of the run, or, where the power returns,
    /// [`Device::power_returned`]; no alarm rings, no request arrives.
    PowerLost,
    /// This child has failed for good, and with it all below. What is open there comes back with
    /// [`FailedDevice`](crate::engine::request::Outcome::FailedDevice) after this, and so does, at once, what is submitted later.
    ChildFailed(DeviceId),
}

/// A device's published state, for parents that decide by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceStatus {
    /// Requests accepted or waiting to be.
    pub outstanding: u32,
    /// Queue slots that are free.
    pub free_slots: u32,
    /// The medium, or that of a device below, is in standby or on its way there: a request that needs it waits for a spin-up. False again
    /// from the instant at which the spin-up begins.
    pub is_down: bool,
}
