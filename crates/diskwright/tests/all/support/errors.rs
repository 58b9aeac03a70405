//! What an error of the input must have.

use diskwright::base::error::Error;

/// The most bytes of a message.
const LONGEST: usize = 4_000;

/// What is wrong with how the end of a reading is told, if something is: an error is one of the input, has its place, and is short.
pub fn fault<T>(result: &Result<T, Error>) -> Option<String> {
    let error = result.as_ref().err()?;
    let text = error.to_string();
    let Error::Input(input) = error else {
        return Some(format!("not an error of the input: {text}"));
    };
    if input.place.is_none() {
        return Some(format!("no place: {text}"));
    }
    (text.len() >= LONGEST).then(|| format!("a message of {} bytes: {text}", text.len()))
}
