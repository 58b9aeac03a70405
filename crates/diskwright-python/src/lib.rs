//! Python bindings of diskwright.
