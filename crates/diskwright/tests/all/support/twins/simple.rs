//! Devices of constant times.

/// A device of constant times, ns, as `docs/simple.md` has it.
#[derive(Clone, Copy, Debug)]
pub struct Simple {
    pub blocks: u64,
    pub read: u64,
    pub write: u64,
    /// For each block, ns.
    pub per_block: u64,
    pub parallel: usize,
}

impl Simple {
    /// Its table in a spec, at the path of a device.
    pub fn text(&self, path: &str) -> String {
        let Simple {
            blocks,
            read,
            write,
            per_block,
            parallel,
        } = self;
        let rate = match per_block {
            0 => String::new(),
            ns => format!("rate = \"{} MB/s\"\n", 512_000 / ns),
        };
        format!(
            "[{path}.simple]\ncapacity = \"{blocks} blocks\"\nread = \"{read} ns\"\nwrite = \"{write} ns\"\n{rate}parallel = {parallel}\n"
        )
    }
}
