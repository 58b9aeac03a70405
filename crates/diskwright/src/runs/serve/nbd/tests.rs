//! Sessions, byte by byte.

use proptest::prelude::*;

use super::errno::{EINVAL, ENOSPC, EOVERFLOW, EPERM};
use super::*;

fn export() -> Export {
    Export {
        size: 1 << 33,
        block: 512,
        read_only: false,
        rotational: true,
        description: "a disk".into(),
    }
}

/// Feeds all of `input`; gives the requests, what was sent, and whether the session is over.
fn feed(session: &mut Session, mut input: &[u8], export: &Export) -> (Vec<Ask>, Vec<u8>, bool) {
    let (mut asks, mut out) = (Vec::new(), Vec::new());
    loop {
        let (taken, step) = session.step(input, export, &mut out);
        input = &input[taken..];
        match step {
            Step::More => return (asks, out, false),
            Step::Close => return (asks, out, true),
            Step::Asks(ask) => asks.push(ask),
            Step::Answered => {}
        }
    }
}

fn option(number: u32, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"IHAVEOPT".to_vec();
    bytes.u32(number);
    bytes.u32(data.len() as u32);
    bytes.extend_from_slice(data);
    bytes
}

fn go() -> Vec<u8> {
    option(7, &[0; 6])
}

fn request(flags: u16, kind: u16, offset: u64, length: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.u32(0x2560_9513);
    bytes.u16(flags);
    bytes.u16(kind);
    bytes.u64(77);
    bytes.u64(offset);
    bytes.u32(length);
    bytes
}

/// A session in which requests may come.
fn transmitting(export: &Export) -> Session {
    let mut session = Session::new(&mut Vec::new());
    let mut input = 3u32.to_be_bytes().to_vec();
    input.extend(option(8, &[]));
    let mut contexts = vec![0; 4];
    contexts.u32(1);
    contexts.u32(15);
    contexts.extend_from_slice(b"base:allocation");
    input.extend(option(10, &contexts));
    input.extend(go());
    let (asks, _, closed) = feed(&mut session, &input, export);
    assert!(asks.is_empty() && !closed && session.is_transmitting());
    session
}

#[test]
fn the_handshake_tells_size_flags_and_block_sizes() {
    let mut out = Vec::new();
    let mut session = Session::new(&mut out);
    assert_eq!(out, b"NBDMAGICIHAVEOPT\x00\x03");
    let input = [3u32.to_be_bytes().to_vec(), go()].concat();
    let (_, out, _) = feed(&mut session, &input, &export());
    let mut reply = Take(&out);
    let mut info = || {
        let head = (reply.u64(), reply.u32(), reply.u32());
        assert_eq!((head.0, head.1), (Some(0x3_e889_0455_65a9), Some(7)));
        let length = reply.u32().expect("a length") as usize;
        (
            head.2.expect("a kind"),
            reply.bytes(length).expect("data").to_vec(),
        )
    };
    let (kind, data) = info();
    assert_eq!((kind, Take(&data).u16()), (3, Some(0)));
    assert_eq!(Take(&data[2..]).u64(), Some(1 << 33));
    // Flags, flush, FUA, rotational, trim, write zeroes, several connections.
    assert_eq!(Take(&data[10..]).u16(), Some(0b1_0111_1101));
    let (kind, data) = info();
    assert_eq!((kind, Take(&data).u16()), (3, Some(3)));
    let sizes: Vec<_> = (0..3).map(|at| Take(&data[2 + 4 * at..]).u32()).collect();
    assert_eq!(sizes, [Some(512), Some(4096), Some(32 << 20)]);
    assert_eq!(info(), (1, Vec::new()));
}

#[test]
fn an_old_client_gets_its_zeros() {
    for (flags, zeros) in [(1u32, 124), (3, 0)] {
        let mut session = Session::new(&mut Vec::new());
        let input = [flags.to_be_bytes().to_vec(), option(1, b"")].concat();
        let (_, out, _) = feed(&mut session, &input, &export());
        assert_eq!(out.len(), 10 + zeros);
        assert!(session.is_transmitting());
    }
}

#[test]
fn what_is_not_known_is_refused_and_the_session_goes_on() {
    let mut session = Session::new(&mut Vec::new());
    let mut input = 3u32.to_be_bytes().to_vec();
    let mut named = 1u32.to_be_bytes().to_vec();
    named.extend_from_slice(b"x\0\0");
    let mut long = 900u32.to_be_bytes().to_vec();
    long.u16(0);
    let wrong = [
        (option(5, &[]), 0x8000_0001u32),
        (option(11, &[]), 0x8000_0001),
        (option(99, b"data"), 0x8000_0001),
        (option(7, &named), 0x8000_0006),
        (option(7, &long), 0x8000_0003),
        (option(8, b"x"), 0x8000_0003),
        (option(10, &[0; 8]), 0x8000_0003),
    ];
    for (bytes, kind) in wrong {
        input.extend(bytes);
        let (_, out, closed) = feed(&mut session, &input, &export());
        assert_eq!(Take(&out[12..]).u32(), Some(kind));
        assert!(!closed);
        input.clear();
    }
    assert!(!session.is_transmitting());
    feed(&mut session, &go(), &export());
    assert!(session.is_transmitting());
}

#[test]
fn garbage_closes() {
    for garbage in [&b"GET / HTTP/1.1\r\n"[..], &[0xff; 4], &[0; 64]] {
        let mut session = Session::new(&mut Vec::new());
        assert!(feed(&mut session, garbage, &export()).2, "{garbage:?}");
    }
    let mut session = transmitting(&export());
    assert!(feed(&mut session, b"G", &export()).2);
    let mut session = Session::new(&mut Vec::new());
    let mut large = [3u32.to_be_bytes().to_vec(), b"IHAVEOPT".to_vec()].concat();
    large.u32(7);
    large.u32(u32::MAX);
    assert!(feed(&mut session, &large, &export()).2);
}

#[test]
fn wrong_requests_are_told_so_and_reach_no_device() {
    let device = export();
    let end = device.size;
    let reads = [
        (request(0, 0, end, 512), EINVAL),
        (request(0, 0, u64::MAX - 511, 512), EINVAL),
        (request(0, 0, 0, u32::MAX - 511), EOVERFLOW),
        (request(0, 0, 0, (32 << 20) + 512), EOVERFLOW),
        (request(0, 0, 1, 512), EINVAL),
        (request(0, 0, 0, 511), EINVAL),
        (request(0, 0, 0, 0), EINVAL),
        (request(0x8000, 0, 0, 512), EINVAL),
    ];
    for (bytes, error) in reads {
        let (asks, out, closed) = feed(&mut transmitting(&device), &bytes, &device);
        assert!(asks.is_empty() && !closed);
        assert_eq!(Take(&out[20..]).u32(), Some(error));
    }
    let others = [
        (request(0, 4, end - 512, 1024), ENOSPC),
        (request(0, 6, end, 512), ENOSPC),
        (request(0, 3, 512, 0), EINVAL),
        (request(0, 5, 0, 512), EINVAL),
        (request(0, 500, 0, 512), EINVAL),
        ([request(0, 1, end, 512), vec![0; 512]].concat(), ENOSPC),
    ];
    for (bytes, error) in others {
        let (asks, out, closed) = feed(&mut transmitting(&device), &bytes, &device);
        assert!(asks.is_empty() && !closed);
        assert_eq!(Take(&out[4..]).u32(), Some(error));
    }
    // What would have to be read to be skipped is not.
    let (_, out, closed) = feed(
        &mut transmitting(&device),
        &request(0, 1, 0, u32::MAX),
        &device,
    );
    assert_eq!((Take(&out[4..]).u32(), closed), (Some(EOVERFLOW), true));
}

#[test]
fn both_sides_of_the_end() {
    let device = export();
    let last = request(0, 0, device.size - 512, 512);
    let (asks, ..) = feed(&mut transmitting(&device), &last, &device);
    assert_eq!((asks[0].offset, asks[0].length), (device.size - 512, 512));
    let most = request(0, 0, 0, 32 << 20);
    assert_eq!(feed(&mut transmitting(&device), &most, &device).0.len(), 1);
    // Of trims nothing is sent: they may be of nearly 4 GiB.
    let trim = request(0, 4, 0, u32::MAX - 511);
    assert_eq!(feed(&mut transmitting(&device), &trim, &device).0.len(), 1);
}

#[test]
fn what_is_read_only_takes_no_writes() {
    let device = Export {
        read_only: true,
        ..export()
    };
    let write = [request(0, 1, 0, 512), vec![1; 512]].concat();
    for bytes in [write, request(0, 4, 0, 512), request(0, 6, 0, 512)] {
        let (asks, out, _) = feed(&mut transmitting(&device), &bytes, &device);
        assert!(asks.is_empty());
        assert_eq!(Take(&out[4..]).u32(), Some(EPERM));
    }
}

#[test]
fn flags_are_heard() {
    let device = export();
    let bytes = [
        [request(1, 1, 512, 512), vec![5; 512]].concat(),
        request(2, 6, 0, 1024),
        request(8, 7, 0, 4096),
        request(0, 3, 0, 0),
    ];
    let (asks, ..) = feed(&mut transmitting(&device), &bytes.concat(), &device);
    assert!(asks[0].fua && asks[0].payload == [5; 512]);
    let kinds: Vec<Kind> = asks.iter().map(|ask| ask.kind).collect();
    assert_eq!(
        kinds[1..],
        [
            Kind::Zero { kept: true },
            Kind::Status { one: true },
            Kind::Flush
        ]
    );
}

proptest! {
    /// Whatever comes, in whatever pieces, neither panics nor makes a request that leaves the device.
    #[test]
    fn nothing_breaks_a_session(
        garbage in prop::collection::vec(any::<u8>(), 0..200),
        flags in any::<u16>(), kind in 0u16..9, offset in any::<u64>(), length in any::<u32>(), piece in 1usize..40,
    ) {
        let device = export();
        let mut session = transmitting(&device);
        let bytes = [request(flags, kind, offset, length), garbage].concat();
        let mut input = Vec::new();
        for piece in bytes.chunks(piece) {
            input.extend_from_slice(piece);
            let mut out = Vec::new();
            loop {
                let (taken, step) = session.step(&input, &device, &mut out);
                input.drain(..taken);
                match step {
                    Step::More | Step::Close => break,
                    Step::Asks(ask) => prop_assert!(ask.offset + u64::from(ask.length) <= device.size),
                    Step::Answered => {}
                }
            }
        }
    }
}
