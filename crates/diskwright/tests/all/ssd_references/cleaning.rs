//! Write amplification under uniform random overwrite against theory: the formula of first in, first out, and the mean-field model of greedy
//! and d-choices; and what the separation of hot and cold data gains.
//!
//! Source of the mean-field model: Van Houdt, "A mean field model for a class of garbage collection algorithms in flash-based solid state
//! drives", SIGMETRICS 2013.

use super::{near, of_drive, run};

/// The blocks of a plane: enough that the blocks at the edges are few.
const BLOCKS: u32 = 1024;
/// Pages of a block.
const PAGES: u32 = 64;
/// Cleaning begins when fewer blocks than this are free.
const BEGIN: u32 = 2;

/// Pages among which data go round: when a victim is chosen, one block fewer than `BEGIN` is free and one is open.
fn going_round() -> f64 {
    f64::from((BLOCKS - BEGIN) * PAGES)
}

/// Pages that hold data: the others are `over` times as many.
fn in_use(over: f64) -> f64 {
    libm::floor(going_round() / (1.0 + over))
}

/// The write amplification of a plane that has been overwritten for long.
fn measured(victim: &str, over: f64) -> f64 {
    let all = f64::from(BLOCKS * PAGES);
    let share = 100.0 * (1.0 - in_use(over) / all);
    let writes = 2.0 * in_use(over);
    let result = run(&format!(
        "[workload.synthetic]\nrequests = {writes}\narrivals = {{ closed = {{ users = 1 }} }}\nreads = 0.0\nsize = '4 KiB'\n\
         [measure]\nwarmup = 0\n[device.ssd]\ndrive = 'mqsim-clean'\n\
         flash = {{ channels = 1, blocks = {BLOCKS}, pages = {PAGES}, page = '4 KiB' }}\n\
         spare = {{ share = '{share:.6} %' }}\ncleaning = {{ begin = {BEGIN}, victim = {victim}, separate = false }}\n\
         initial = {{ pattern = 'random', overwrite = 6.0 }}"
    ));
    of_drive(&result, "write_amplification")
}

/// The root of a rising function.
fn root(mut low: f64, mut high: f64, rising: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if rising(middle) < 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// First in, first out: of a victim the part u is valid, (u − 1)/ln u = U/T.
fn of_fifo(load: f64) -> f64 {
    let valid = root(1e-9, 1.0 - 1e-9, |u| (u - 1.0) / libm::log(u) - load);
    1.0 / (1.0 - valid)
}

/// The fixed point of the mean-field model in which the best of `d` blocks that gain a page is cleaned; greedy without `d`.
///
/// With w the rate at which each valid page is overwritten, in blocks cleaned, as many blocks fall from i to i − 1 valid pages as victims
/// have fewer than i: w · i · m(i) = P(victim < i), m(i) being the share of blocks with i valid pages. From i = `PAGES` down each m follows from
/// those above; w is such that they hold `load` of all pages. What is not moved of a block is written by the host, so the amplification is 1/(w · load).
fn of_mean_field(load: f64, d: Option<f64>) -> f64 {
    let held = |w: f64| {
        let full = 1.0 / (w * f64::from(PAGES));
        let (mut above, mut valid) = (full, full * f64::from(PAGES));
        for i in (1..PAGES).rev() {
            let i = f64::from(i);
            let room = 1.0 - above;
            let fewer = |share: f64| match d {
                None => 1.0,
                Some(d) => 1.0 - libm::pow((above + share - full) / (1.0 - full), d),
            };
            let share = root(0.0, room, |share| w * i * share - fewer(share));
            above += share;
            valid += i * share;
        }
        valid / f64::from(PAGES)
    };
    // The faster pages are overwritten, the fewer are valid.
    let w = root(1.0 / f64::from(PAGES), 1e3, |w| load - held(w));
    1.0 / (w * load)
}

/// Over-provisioning from which to which the policies are compared.
const OVER: [f64; 6] = [0.07, 0.10, 0.15, 0.25, 0.28, 0.50];

fn compare(over: f64) {
    let load = in_use(over) / going_round();
    let fifo = measured("'fifo'", over);
    near(&format!("fifo, {over}"), fifo, of_fifo(load), 0.03);
    let greedy = measured("'greedy'", over);
    near(
        &format!("greedy, {over}"),
        greedy,
        of_mean_field(load, None),
        0.03,
    );
    assert!(greedy < fifo, "{greedy} and {fifo}");
}

#[test]
fn fifo_amplifies_by_its_formula_and_greedy_by_the_mean_field() {
    for over in [0.15, 0.50] {
        compare(over);
    }
}

#[test]
#[ignore = "takes minutes"]
fn so_they_do_from_little_to_much_over_provisioning() {
    OVER.into_iter().for_each(compare);
}

#[test]
fn d_choices_lie_between_random_victims_and_greedy() {
    let over = 0.15;
    let load = in_use(over) / going_round();
    let greedy = of_mean_field(load, None);
    let mut before = f64::INFINITY;
    for d in [2, 5, 10] {
        let theory = of_mean_field(load, Some(f64::from(d)));
        let found = measured(&format!("{{ d-choices = {{ d = {d} }} }}"), over);
        near(&format!("{d} choices"), found, theory, 0.03);
        assert!(theory > greedy && found < before);
        before = found;
    }
}

#[test]
fn the_mean_field_of_one_choice_and_of_many() {
    let load = 0.8;
    // The best of very many is the best of all.
    let many = of_mean_field(load, Some(1e9));
    near("many choices", many, of_mean_field(load, None), 1e-3);
    // Of blocks drawn at random those with many valid pages are as likely as others.
    assert!(of_mean_field(load, Some(1.0)) > of_fifo(load));
}

/// The write amplification where `share` of the writes go to the first `hot` of the drive.
fn separated(separation: &str) -> f64 {
    let result = run(&format!(
        "[workload.synthetic]\nrequests = 400_000\narrivals = {{ closed = {{ users = 1 }} }}\nreads = 0.0\n\
         size = '4 KiB'\naddress = {{ hot-cold = {{ hot = '10 %', share = '90 %' }} }}\n\
         [measure]\nwarmup = 0\n[device.ssd]\ndrive = 'mqsim-clean'\n\
         flash = {{ channels = 1, blocks = 512, pages = {PAGES}, page = '4 KiB' }}\n\
         spare = {{ share = '15 %' }}\ncleaning = {{ begin = 3 }}\nallocation = {{ separation = {separation} }}\n\
         initial = {{ pattern = 'random' }}"
    ));
    of_drive(&result, "write_amplification")
}

#[test]
fn the_separation_of_hot_and_cold_pages_lowers_it() {
    let none = separated("'single-stream'");
    let hashed = separated("'multi-hash'");
    println!(
        "90 % of the writes to 10 % of the drive: {none:.3} in one stream, {hashed:.3} by hashes"
    );
    assert!(hashed < 0.98 * none, "{hashed} and {none}");
}
