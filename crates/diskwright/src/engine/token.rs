//! What an alarm tells the one who set it.

use crate::engine::request::RequestId;

/// A kind, which every device numbers as it likes, and a value: a request, an arm, a user.
///
/// Both are packed into 64 bits, so that an alarm stays small.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Token(u64);

impl Token {
    /// A token of a kind with a value.
    pub const fn new(kind: u32, value: u32) -> Token {
        Token((kind as u64) << u32::BITS | value as u64)
    }
    /// A token of a kind for a request.
    pub const fn of_request(kind: u32, request: RequestId) -> Token {
        Token::new(kind, request.0)
    }
    /// Its kind.
    pub const fn kind(self) -> u32 {
        (self.0 >> u32::BITS) as u32
    }
    /// Its value.
    pub const fn value(self) -> u32 {
        self.0 as u32
    }
    /// Its value as a request's number.
    pub const fn request(self) -> RequestId {
        RequestId(self.value())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kind_and_value_are_kept_apart() {
        for (kind, value) in [(0, 0), (1, u32::MAX), (u32::MAX, 0), (u32::MAX, u32::MAX)] {
            let token = Token::new(kind, value);
            assert_eq!((token.kind(), token.value()), (kind, value));
            assert_eq!(Token::of_request(kind, RequestId(value)), token);
            assert_eq!(token.request(), RequestId(value));
        }
    }
}
