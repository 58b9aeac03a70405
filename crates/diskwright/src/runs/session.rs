//! A device that is asked one request at a time, at instants of the asker's choice: what a measurement from outside sees.
//!
//! Nothing is told but how large the device is and when requests were complete. Simulated time stands still between two requests,
//! but for the pauses that are asked for.

use std::ops::ControlFlow;

use crate::base::error::Error;
use crate::base::units::Time;
use crate::engine::request::{Command, Outcome, RequestId};
use crate::engine::{Engine, Initiator, Port, Token};
use crate::runs::serve::spec;
use crate::runs::simulation::{RunOptions, SpecSource};

/// A spec's device, at rest at time zero.
pub struct Session {
    engine: Engine,
    blocks: u64,
    sequence: u64,
    now: Time,
}

/// A request that was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// When it was complete.
    pub at: Time,
    /// How it ended.
    pub outcome: Outcome,
}

impl Session {
    /// Builds the device of a spec, of which the load may be left out.
    ///
    /// # Errors
    /// Wrong input, with its place.
    pub fn open(source: &SpecSource) -> Result<Session, Error> {
        let mut tree = spec::read(source, &RunOptions::default())?.devices()?;
        let root = tree.devices.last().expect("a spec has a device");
        Ok(Session {
            blocks: root.blocks(),
            engine: Engine::new(std::mem::take(&mut tree.devices), None),
            sequence: 0,
            now: Time::ZERO,
        })
    }

    /// Blocks of 512 bytes.
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// When the last request was complete.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Issues a request `pause` after the one before it was complete, and waits for it.
    ///
    /// # Errors
    /// A run of blocks that the device does not have; those of [`Engine::run`].
    pub fn ask(&mut self, pause: Time, command: &Command) -> Result<Answer, Error> {
        let last = command.lbn.0.checked_add(u64::from(command.blocks));
        if last.is_none_or(|end| end > self.blocks) {
            let (lbn, blocks) = (command.lbn.0, command.blocks);
            let message = format!(
                "{blocks} blocks from {lbn} on: the device has {}",
                self.blocks
            );
            return Err(Error::input(message));
        }
        let issue = self.now.checked_add(pause).unwrap_or(Time::MAX);
        let mut exchange = Exchange {
            command: *command,
            // What the device did of its own after the last request may have taken time.
            issue: issue.max(self.engine.now()),
            sequence: self.sequence,
            answer: None,
        };
        self.sequence += 1;
        self.engine.run(&mut exchange)?;
        let answer = exchange
            .answer
            .expect("the engine ends when every request is complete");
        self.now = answer.at;
        Ok(answer)
    }
}

/// One request, from its issue to its completion.
struct Exchange {
    command: Command,
    issue: Time,
    sequence: u64,
    answer: Option<Answer>,
}

impl Initiator for Exchange {
    fn start(&mut self, port: &mut Port<'_>) -> Result<(), Error> {
        port.alarm(self.issue, Token::new(0, 0));
        Ok(())
    }

    fn alarm(&mut self, _token: Token, port: &mut Port<'_>) -> Result<(), Error> {
        port.submit(&self.command, port.now(), self.sequence);
        Ok(())
    }

    fn completed(&mut self, request: RequestId, port: &mut Port<'_>) -> Result<(), Error> {
        let outcome = port.request(request).outcome;
        self.answer = Some(Answer {
            at: port.now(),
            outcome: outcome.expect("a completed request has an outcome"),
        });
        Ok(())
    }

    fn power_lost(&mut self, _now: Time) {}

    fn tick(&mut self) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn advance(&mut self, next: Option<Time>, is_over: bool) -> Option<Time> {
        // Time stands still once the answer is there: what the device does of its own then happens before the next request.
        if self.answer.is_some() || is_over {
            None
        } else {
            next
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::units::Lbn;
    use crate::engine::request::Op;

    fn session(drive: &str) -> Session {
        let text = format!("[device.hdd]\ndrive = \"{drive}\"\n");
        let base = std::path::PathBuf::new();
        Session::open(&SpecSource::Text { text, base }).expect("a sound spec")
    }

    fn read(lbn: u64) -> Command {
        Command {
            op: Op::Read,
            fua: false,
            lbn: Lbn(lbn),
            blocks: 1,
        }
    }

    #[test]
    fn a_read_that_comes_sooner_is_complete_at_the_same_turn() {
        let turn = 60_000_000_000 / 7200;
        let mut ends = Vec::new();
        for pause_ms in [0, 3] {
            let mut session = session("ibm-18es-linear");
            let first = session.ask(Time::ZERO, &read(0)).expect("served");
            let second = session
                .ask(Time::from_ms(pause_ms), &read(4_000_000))
                .expect("served");
            assert!(second.at > first.at + Time::from_ms(pause_ms));
            assert_eq!(session.now(), second.at);
            ends.push(second.at.ns());
        }
        // The platter has the same angle at both ends: a whole number of turns lies between, to the rounding of a nanosecond.
        let between = ends[1].abs_diff(ends[0]);
        let turns = (between + turn / 2) / turn;
        assert!(between.abs_diff(turns * turn) <= turns + 1, "{between}");
    }

    #[test]
    fn the_drive_goes_on_reading_ahead_during_a_pause() {
        let mut hasty = session("ibm-18es");
        hasty.ask(Time::ZERO, &read(0)).expect("served");
        let at_once = hasty.ask(Time::ZERO, &read(100)).expect("served");
        let mut patient = session("ibm-18es");
        let first = patient.ask(Time::ZERO, &read(0)).expect("served");
        let later = patient.ask(Time::from_ms(50), &read(100)).expect("served");
        let response = later.at - first.at - Time::from_ms(50);
        assert!(response < at_once.at - first.at);
    }

    #[test]
    fn blocks_beyond_the_end_are_refused() {
        let mut session = session("ibm-18es");
        let end = session.blocks();
        assert!(session.ask(Time::ZERO, &read(end)).is_err());
        assert!(session.ask(Time::ZERO, &read(end - 1)).is_ok());
    }
}
