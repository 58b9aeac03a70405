//! How a part of a drive is refused.

use crate::base::error::InputError;

/// A key of the spec, and what is wrong there.
pub(super) type Refusal = (&'static str, Box<InputError>);
