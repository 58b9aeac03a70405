//! Faults while a device is served: one datagram a command, one an answer.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};

use super::live::Inbox;
use crate::base::error::{Error, InputError};
use crate::config::spec::{FaultKind, MediaErrorSpec};
use crate::engine::Injection;
use crate::runs::simulation::faults::Targets;

/// The most bytes of a command.
const MOST_BYTES: usize = 4096;

/// Where commands come in. Its path goes when it is dropped.
pub struct Control {
    socket: UnixDatagram,
    path: PathBuf,
    targets: Targets,
    /// The contents can be what a device has after a power cut.
    cuts_power: bool,
}

impl Control {
    /// Listens for commands at a path, which the caller has made sure that nobody listens at.
    ///
    /// # Errors
    /// The path cannot be made.
    pub fn at(path: &Path, targets: Targets, cuts_power: bool) -> Result<Control, Error> {
        let failed = |error| Error::file(path, "listen at", error);
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
        let socket = UnixDatagram::bind(path).map_err(failed)?;
        socket.set_nonblocking(true).map_err(failed)?;
        Ok(Control {
            socket,
            path: path.to_owned(),
            targets,
            cuts_power,
        })
    }

    /// The socket.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Takes all commands that are there, at an instant of the wall, and answers them.
    pub fn hear(&mut self, now: u64, inbox: &mut Inbox) {
        let mut bytes = [0; MOST_BYTES];
        while let Ok((length, sender)) = self.socket.recv_from(&mut bytes) {
            let command = String::from_utf8_lossy(&bytes[..length]);
            let answer = match self.understand(&command) {
                Ok(injection) => {
                    inbox.faults.push_back((now, injection));
                    "ok".to_owned()
                }
                Err(error) => Error::from(error).to_string(),
            };
            if let Some(path) = sender.as_pathname() {
                // Whoever asked may have gone.
                let _ = self.socket.send_to(answer.as_bytes(), path);
            }
        }
    }

    /// What a command asks for.
    fn understand(&self, command: &str) -> Result<Injection, InputError> {
        let kind = parse(command)?;
        if kind == FaultKind::PowerCut && !self.cuts_power {
            let error = InputError::new("this server does not keep what a power cut takes");
            return Err(error.help("start it with --power-cuts"));
        }
        self.targets.injection(&kind).map_err(|wrong| wrong.1)
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        // It may have been removed by somebody else.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// A command: words with tabs between them.
///
/// # Errors
/// Other words, and numbers that are none.
pub fn parse(command: &str) -> Result<FaultKind, InputError> {
    let words: Vec<&str> = command.split('\t').collect();
    let number = |what: &str, text: &str| {
        text.parse::<u64>()
            .map_err(|_| InputError::new(format!("{what}: {text:?} is no whole number")))
    };
    match words.as_slice() {
        ["power-cut"] => Ok(FaultKind::PowerCut),
        ["fail", device] => Ok(FaultKind::Fail((*device).to_owned())),
        ["media-error", device, from, blocks] => Ok(FaultKind::MediaError(MediaErrorSpec {
            device: (*device).to_owned(),
            from: number("the first block", from)?,
            blocks: number("the number of blocks", blocks)?,
        })),
        _ => {
            let error = InputError::new(format!("unknown command {command:?}"));
            Err(error.help("accepted: power-cut, fail DEVICE, media-error DEVICE FROM BLOCKS"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_understood() {
        assert_eq!(parse("power-cut").expect("one"), FaultKind::PowerCut);
        let failing = FaultKind::Fail("array.member[1]".into());
        assert_eq!(parse("fail\tarray.member[1]").expect("one"), failing);
        let FaultKind::MediaError(spec) = parse("media-error\thdd\t8\t16").expect("one") else {
            panic!("another kind");
        };
        assert_eq!((spec.from, spec.blocks), (8, 16));
        for wrong in [
            "",
            "fail",
            "media-error\thdd\t-1\t5",
            "media-error\thdd\t1",
            "power-cut\tnow",
        ] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
