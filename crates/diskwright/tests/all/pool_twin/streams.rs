//! The streams that the twin's drive follows.

/// One stream of reads.
pub struct Stream {
    /// Which one it is.
    pub number: u64,
    pub next: u64,
    pub count: u64,
    /// The block behind its last piece.
    pub read_to: u64,
    /// When it was continued last, as a number that rises.
    pub continued: u64,
    /// Whether an extent had no frame since.
    pub is_stopped: bool,
}

impl Stream {
    pub fn end(&self) -> u64 {
        self.read_to.max(self.next)
    }
}

/// All streams.
pub struct Streams {
    pub list: Vec<Stream>,
    most: usize,
    reads: u64,
}

impl Streams {
    pub fn new(most: usize) -> Streams {
        Streams {
            list: Vec::new(),
            most,
            reads: 0,
        }
    }

    pub fn get(&mut self, number: u64) -> Option<&mut Stream> {
        self.list.iter_mut().find(|stream| stream.number == number)
    }

    /// A read of `from..to` is taken: the stream that is given up for it.
    pub fn read(&mut self, from: u64, to: u64) -> Option<Stream> {
        self.reads += 1;
        let its = self.list.iter_mut().filter(|stream| stream.next == from);
        if let Some(stream) = its.max_by_key(|stream| stream.continued) {
            stream.count += 1;
            stream.next = to;
            stream.continued = self.reads;
            stream.is_stopped = false;
            return None;
        }
        let given_up = (self.list.len() == self.most).then(|| {
            let places = 0..self.list.len();
            let oldest = places.min_by_key(|&place| self.list[place].continued);
            self.list.remove(oldest.expect("at least one stream"))
        });
        self.list.push(Stream {
            number: self.reads,
            next: to,
            count: 0,
            read_to: to,
            continued: self.reads,
            is_stopped: false,
        });
        given_up
    }
}
