//! Integers as runs: the format's run length encoding of integers, version 2.
//!
//! Of its four kinds repeats, steps and packed values are written. Patched bases, which save bits where few values are
//! large, are not: the compression behind takes most of what they would save. Readers decode every run in 64 bits,
//! whatever the column's type, so that every width here is one of 64-bit values, never of narrower ones.

use crate::row::put_var_int;

/// Values of a run, at the most.
const RUN: usize = 512;
/// Equal values that make a run of their own, at the least.
const REPEAT: usize = 3;
/// Equal values that a repeat can count.
const REPEATS: usize = 10;

/// Integers on their way into runs.
pub(super) struct Ints {
    signed: bool,
    pending: Vec<i64>,
    out: Vec<u8>,
}

impl Ints {
    pub(super) fn signed() -> Self {
        Self { signed: true, pending: Vec::with_capacity(RUN), out: Vec::new() }
    }

    /// For values that are never negative.
    pub(super) fn unsigned() -> Self {
        Self { signed: false, ..Self::signed() }
    }

    pub(super) fn extend(&mut self, values: impl IntoIterator<Item = i64>) {
        for value in values {
            self.pending.push(value);
            if self.pending.len() == RUN {
                self.flush();
            }
        }
    }

    pub(super) fn size(&self) -> usize {
        self.out.len() + self.pending.len() * size_of::<i64>()
    }

    /// The runs; none are left.
    pub(super) fn finish(&mut self) -> Vec<u8> {
        self.flush();
        std::mem::take(&mut self.out)
    }

    fn flush(&mut self) {
        let mut values = self.pending.as_slice();
        let mut encode = Encode { signed: self.signed, out: &mut self.out };
        while let Some(first) = values.first() {
            let equal = values.iter().take_while(|v| *v == first).count();
            if equal >= REPEAT {
                encode.repeat(*first, equal);
                values = &values[equal..];
                continue;
            }
            let repeat = values.windows(REPEAT).position(|w| w.iter().all(|v| *v == w[0]));
            let (run, rest) = values.split_at(repeat.unwrap_or(values.len()));
            encode.differing(run);
            values = rest;
        }
        self.pending.clear();
    }
}

/// Encodes runs of up to [`RUN`] values.
struct Encode<'a> {
    signed: bool,
    out: &'a mut Vec<u8>,
}

impl Encode<'_> {
    fn repeat(&mut self, value: i64, times: usize) {
        if times > REPEATS {
            return self.steps(value, 0, 0, times, &[]);
        }
        let value = self.plain(value);
        let bytes = (bits(value).div_ceil(8)).max(1);
        self.out.push((bytes as u8 - 1) << 3 | (times - REPEAT) as u8);
        self.out.extend_from_slice(&value.to_be_bytes()[8 - bytes..]);
    }

    fn differing(&mut self, run: &[i64]) {
        let widest = run.iter().fold(0, |all, v| all | self.plain(*v));
        let packed = aligned(bits(widest));
        let Some(Steps { first, sizes, width }) = Steps::of(run) else { return self.packed(run, packed) };
        // The base and the first step of at most ten bytes each.
        if width == 0 || 2 * 80 + sizes.len() * width < run.len() * packed {
            self.steps(run[0], first, width, run.len(), &sizes);
        } else {
            self.packed(run, packed);
        }
    }

    fn packed(&mut self, run: &[i64], width: usize) {
        self.header(0b01, code(width), run.len());
        let signed = self.signed;
        pack(run.iter().map(|v| if signed { zigzag(*v) } else { *v as u64 }), width, self.out);
    }

    /// `first` is the step to the second value, `sizes` those of the further ones; all alike with a width of 0.
    fn steps(&mut self, base: i64, first: i64, width: usize, length: usize, sizes: &[u64]) {
        self.header(0b11, if width == 0 { 0 } else { code(width) }, length);
        put_var_int(self.out, self.plain(base));
        put_var_int(self.out, zigzag(first));
        if width > 0 {
            pack(sizes.iter().copied(), width, self.out);
        }
    }

    fn header(&mut self, kind: u8, code: u8, length: usize) {
        let [high, low] = ((length - 1) as u16).to_be_bytes();
        self.out.extend([kind << 6 | code << 1 | high, low]);
    }

    fn plain(&self, value: i64) -> u64 {
        if self.signed { zigzag(value) } else { value as u64 }
    }
}

/// Values that only rise or only fall.
struct Steps {
    first: i64,
    /// The sizes of the steps behind the first.
    sizes: Vec<u64>,
    /// Bits of each; 0 when all are as the first.
    width: usize,
}

impl Steps {
    /// Nothing for values that go up and down, that begin with a step of none (the first one's sign tells the direction),
    /// or that are further apart than 63 bits.
    fn of(run: &[i64]) -> Option<Self> {
        let [one, two, .., last] = run else { return None };
        last.checked_sub(*one)?;
        let first = two.checked_sub(*one).filter(|step| *step != 0)?;
        let mut sizes = Vec::with_capacity(run.len());
        for pair in run[1..].windows(2) {
            let step = pair[1].checked_sub(pair[0]).filter(|step| *step == 0 || (*step < 0) == (first < 0))?;
            sizes.push(step.unsigned_abs());
        }
        if sizes.iter().all(|size| *size == first.unsigned_abs()) {
            return Some(Self { first, sizes, width: 0 });
        }
        // A width of 1 bit has the code that says that all steps are alike.
        let width = aligned(bits(sizes.iter().fold(0, |all, size| all | size))).max(2);
        Some(Self { first, sizes, width })
    }
}

/// Negative numbers between the others, small ones first.
pub(super) fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

fn bits(value: u64) -> usize {
    64 - value.leading_zeros() as usize
}

/// The widths that are unpacked fast.
fn aligned(bits: usize) -> usize {
    match bits {
        0 | 1 => 1,
        2 => 2,
        3 | 4 => 4,
        more => more.next_multiple_of(8),
    }
}

/// How a header tells an aligned width.
fn code(width: usize) -> u8 {
    if width <= 24 { width as u8 - 1 } else { 23 + width as u8 / 8 }
}

fn pack(values: impl Iterator<Item = u64>, width: usize, out: &mut Vec<u8>) {
    if width >= 8 {
        values.for_each(|v| out.extend_from_slice(&v.to_be_bytes()[8 - width / 8..]));
        return;
    }
    let (mut byte, mut filled) = (0u8, 0);
    for value in values {
        byte = byte << width | value as u8;
        filled += width;
        if filled == 8 {
            out.push(byte);
            (byte, filled) = (0, 0);
        }
    }
    if filled > 0 {
        out.push(byte << (8 - filled));
    }
}
