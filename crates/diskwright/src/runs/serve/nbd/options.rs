//! Options: what client and server agree on before the first request.

use super::reply::ALLOCATION;
use super::{Export, MOST_BYTES, Put, Take};

const REPLY: u64 = 0x3_e889_0455_65a9;

const EXPORT_NAME: u32 = 1;
const ABORT: u32 = 2;
const LIST: u32 = 3;
const INFO: u32 = 6;
const GO: u32 = 7;
const STRUCTURED_REPLY: u32 = 8;
const LIST_META_CONTEXT: u32 = 9;
const SET_META_CONTEXT: u32 = 10;

const ACK: u32 = 1;
const SERVER: u32 = 2;
const REPLY_INFO: u32 = 3;
const META_CONTEXT: u32 = 4;
const ERR_UNSUP: u32 = 0x8000_0001;
const ERR_INVALID: u32 = 0x8000_0003;
const ERR_UNKNOWN: u32 = 0x8000_0006;

const INFO_EXPORT: u16 = 0;
const INFO_DESCRIPTION: u16 = 2;
const INFO_BLOCK_SIZE: u16 = 3;
/// What file systems use, bytes.
const PREFERRED: u32 = 4096;
const BASE_ALLOCATION: &[u8] = b"base:allocation";

/// What is agreed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Agreed {
    /// Reads are answered in chunks.
    pub structured: bool,
    /// The status of blocks may be asked for.
    pub allocation: bool,
}

/// What follows an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Another one.
    Option,
    /// Requests.
    Transmission,
    /// Nothing.
    Close,
}

/// The flags of transmission.
fn flags(export: &Export, agreed: Agreed) -> u16 {
    let bits = [
        (true, 0),
        (export.read_only, 1),
        // Flush, FUA.
        (true, 2),
        (true, 3),
        (export.rotational, 4),
        // Trim, write zeroes.
        (!export.read_only, 5),
        (!export.read_only, 6),
        // "Don't fragment": no reply to a read is.
        (agreed.structured, 7),
        // A flush on one connection covers all.
        (true, 8),
    ];
    bits.iter()
        .map(|&(is_set, bit)| u16::from(is_set) << bit)
        .sum()
}

fn reply(out: &mut Vec<u8>, option: u32, kind: u32, data: &[u8]) {
    out.u64(REPLY);
    out.u32(option);
    out.u32(kind);
    out.u32(data.len() as u32);
    out.extend_from_slice(data);
}

/// Handles an option with its data.
pub(super) fn handle(
    option: u32,
    data: &[u8],
    export: &Export,
    no_zeroes: bool,
    agreed: &mut Agreed,
    out: &mut Vec<u8>,
) -> Next {
    let mut answer = |kind: u32, data: &[u8]| reply(out, option, kind, data);
    match option {
        EXPORT_NAME => {
            // This option has no reply for errors.
            if !data.is_empty() {
                return Next::Close;
            }
            out.u64(export.size);
            out.u16(flags(export, *agreed));
            if !no_zeroes {
                out.extend_from_slice(&[0; 124]);
            }
            return Next::Transmission;
        }
        ABORT => {
            answer(ACK, &[]);
            return Next::Close;
        }
        LIST if data.is_empty() => {
            answer(SERVER, &[0; 4]);
            answer(ACK, &[]);
        }
        INFO | GO => match name_and_wishes(data) {
            None => answer(ERR_INVALID, b"the option's lengths do not fit its data"),
            Some((name, _)) if !name.is_empty() => {
                answer(ERR_UNKNOWN, b"there is one export, whose name is empty");
            }
            Some((_, wishes)) => {
                informs(export, *agreed, &wishes, &mut answer);
                answer(ACK, &[]);
                if option == GO {
                    return Next::Transmission;
                }
            }
        },
        STRUCTURED_REPLY if data.is_empty() => {
            agreed.structured = true;
            answer(ACK, &[]);
        }
        LIST_META_CONTEXT | SET_META_CONTEXT => {
            if !agreed.structured {
                answer(ERR_INVALID, b"structured replies come first");
                return Next::Option;
            }
            let is_set = option == SET_META_CONTEXT;
            if is_set {
                agreed.allocation = false;
            }
            match contexts(data, is_set) {
                None => answer(ERR_INVALID, b"the option's lengths do not fit its data"),
                Some((name, _)) if !name.is_empty() => {
                    answer(ERR_UNKNOWN, b"there is one export, whose name is empty");
                }
                Some((_, is_wanted)) => {
                    if is_wanted {
                        let number = if is_set { ALLOCATION } else { 0 };
                        let mut context = number.to_be_bytes().to_vec();
                        context.extend_from_slice(BASE_ALLOCATION);
                        answer(META_CONTEXT, &context);
                        agreed.allocation |= is_set;
                    }
                    answer(ACK, &[]);
                }
            }
        }
        LIST | STRUCTURED_REPLY => answer(ERR_INVALID, b"this option has no data"),
        _ => answer(ERR_UNSUP, &[]),
    }
    Next::Option
}

/// The name of the export that is asked for, and which informations.
fn name_and_wishes(data: &[u8]) -> Option<(&[u8], Vec<u16>)> {
    let mut data = Take(data);
    let name = data.text()?;
    let count = data.u16()?;
    let wishes = (0..count).map(|_| data.u16()).collect::<Option<Vec<_>>>()?;
    data.0.is_empty().then_some((name, wishes))
}

fn informs(export: &Export, agreed: Agreed, wishes: &[u16], answer: &mut impl FnMut(u32, &[u8])) {
    let mut info = Vec::new();
    info.u16(INFO_EXPORT);
    info.u64(export.size);
    info.u16(flags(export, agreed));
    answer(REPLY_INFO, &info);
    if wishes.contains(&INFO_DESCRIPTION) {
        info.clear();
        info.u16(INFO_DESCRIPTION);
        info.extend_from_slice(export.description.as_bytes());
        answer(REPLY_INFO, &info);
    }
    info.clear();
    info.u16(INFO_BLOCK_SIZE);
    info.u32(export.block);
    info.u32(PREFERRED.max(export.block));
    info.u32(MOST_BYTES);
    answer(REPLY_INFO, &info);
}

/// The name of the export, and whether `base:allocation` is among what is asked for. In a list no question asks for everything.
fn contexts(data: &[u8], is_set: bool) -> Option<(&[u8], bool)> {
    let mut data = Take(data);
    let name = data.text()?;
    let count = data.u32()?;
    let mut is_wanted = count == 0 && !is_set;
    for _ in 0..count {
        let query = data.text()?;
        is_wanted |= query == BASE_ALLOCATION || query == b"base:" && !is_set;
    }
    data.0.is_empty().then_some((name, is_wanted))
}
