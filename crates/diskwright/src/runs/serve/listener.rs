//! Where clients connect.

use std::fs;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use super::connection::Stream;
use crate::base::error::{Error, InputError, Place};

/// Where a device is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A Unix socket's path.
    Path(PathBuf),
    /// An address and a port of TCP.
    Tcp(SocketAddr),
}

/// A socket that clients connect to. A path goes when it is dropped.
pub enum Listener {
    /// By a path.
    Unix(UnixListener, PathBuf),
    /// By an address.
    Tcp(TcpListener),
}

impl Listener {
    /// Listens at a path. One at which nobody listens any more is taken over. Whoever sees the socket there can connect.
    ///
    /// # Errors
    /// Another server is there, something that is no socket, or the path cannot be made.
    pub fn at_path(path: &Path) -> Result<Listener, Error> {
        let wrong = |message: &str| {
            let error = InputError::new(message).at(Place::File(path.to_owned()));
            Err(Error::from(error.help("name another path")))
        };
        let failed = |error| Error::file(path, "listen at", error);
        match fs::symlink_metadata(path) {
            Ok(found) if !found.file_type().is_socket() => {
                return wrong("this is there, and is no socket");
            }
            Ok(_) if UnixStream::connect(path).is_ok() => {
                return wrong("another server listens at this socket");
            }
            _ => {}
        }
        // A socket is there before anybody listens at it, so it gets its name when that is so. The other name is short, for paths of sockets may be no
        // longer than a hundred characters.
        let beside = path.with_file_name(format!(".{:x}", std::process::id()));
        let listener = UnixListener::bind(&beside).map_err(failed)?;
        if let Err(error) = fs::rename(&beside, path) {
            let _ = fs::remove_file(&beside);
            return Err(failed(error));
        }
        listener.set_nonblocking(true).map_err(failed)?;
        Ok(Listener::Unix(listener, path.to_owned()))
    }

    /// Listens at an address, or a path.
    ///
    /// # Errors
    /// As [`at_path`](Listener::at_path); an address that is taken or not this machine's.
    pub fn at(address: &Address) -> Result<Listener, Error> {
        let address = match address {
            Address::Path(path) => return Listener::at_path(path),
            Address::Tcp(address) => address,
        };
        let failed = |error: io::Error| {
            let error = InputError::new(format!("cannot listen at {address}: {error}"));
            Error::from(error.help("port 0 takes one that is free"))
        };
        let listener = TcpListener::bind(address).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        Ok(Listener::Tcp(listener))
    }

    /// Where it is reached, as a URI of NBD.
    pub fn uri(&self) -> String {
        match self {
            Listener::Unix(_, path) => format!("nbd+unix:///?socket={}", path.display()),
            Listener::Tcp(listener) => match listener.local_addr() {
                Ok(address) => format!("nbd://{address}"),
                Err(_) => "nbd://".to_owned(),
            },
        }
    }

    /// The next client; `None` where none waits.
    pub fn accept(&self) -> io::Result<Option<Stream>> {
        let stream = match self {
            Listener::Unix(listener, _) => listener.accept().map(|(stream, _)| {
                stream.set_nonblocking(true)?;
                Ok(Stream::Unix(stream))
            }),
            Listener::Tcp(listener) => listener.accept().map(|(stream, _)| {
                stream.set_nonblocking(true)?;
                stream.set_nodelay(true)?;
                Ok(Stream::Tcp(stream))
            }),
        };
        match stream {
            Ok(stream) => stream.map(Some),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Listener::Unix(listener, _) => listener.as_fd(),
            Listener::Tcp(listener) => listener.as_fd(),
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Listener::Unix(_, path) = self {
            // It may have been removed by somebody else.
            let _ = fs::remove_file(path);
        }
    }
}
