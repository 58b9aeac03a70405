//! The drives are part of the library: one that is added or removed makes it out of date.

fn main() {
    println!("cargo::rerun-if-changed=../../drives");
}
