//! Structs of Parquet as they are encoded (Thrift compact protocol), as far as the library does not show them.

pub(super) const FALSE: u8 = 2;
pub(super) const INT: u8 = 5;
pub(super) const LIST: u8 = 9;
pub(super) const STRUCT: u8 = 12;

/// A place in encoded structs.
pub(super) struct Cursor<'b> {
    pub(super) bytes: &'b [u8],
    pub(super) at: usize,
}

impl Cursor<'_> {
    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    pub(super) fn signed(&mut self) -> Option<i64> {
        let number = self.number()?;
        Some((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    /// The type of the next field, whose id goes into `id`; none at the end of a struct.
    pub(super) fn field(&mut self, id: &mut i64) -> Option<Option<u8>> {
        let byte = self.byte()?;
        if byte == 0 {
            return Some(None);
        }
        *id = match byte >> 4 {
            0 => self.signed()?,
            more => id.checked_add(more.into())?,
        };
        Some(Some(byte & 0x0f))
    }

    /// Elements of a list, and their type.
    pub(super) fn list(&mut self) -> Option<(u64, u8)> {
        let head = self.byte()?;
        let count = if head >> 4 == 15 { self.number()? } else { u64::from(head >> 4) };
        Some((count, head & 0x0f))
    }

    /// Goes behind a value of a type.
    pub(super) fn skip(&mut self, kind: u8, depth: u8) -> Option<()> {
        const DEEPEST: u8 = 16;
        if depth > DEEPEST {
            return None;
        }
        match kind {
            1 | 2 => {}
            3 => {
                self.byte()?;
            }
            4..=6 => {
                self.number()?;
            }
            7 => self.at = self.at.checked_add(8)?,
            8 => self.at = usize::try_from(self.number()?).ok().and_then(|length| self.at.checked_add(length))?,
            9 | 10 => {
                let (count, kind) = self.list()?;
                for _ in 0..count {
                    // Booleans in a list take a byte each.
                    self.skip(if matches!(kind, 1 | 2) { 3 } else { kind }, depth + 1)?;
                }
            }
            STRUCT => {
                let mut id = 0;
                while let Some(kind) = self.field(&mut id)? {
                    self.skip(kind, depth + 1)?;
                }
            }
            _ => return None,
        }
        (self.at <= self.bytes.len()).then_some(())
    }
}

/// The footer of a file with the length of Bloom filters hidden where something else stands in its place, as some writers
/// have it; none when there is nothing of the kind.
pub(super) fn without_odd_fields(footer: &[u8]) -> Option<Vec<u8>> {
    /// The type, and an id that no reader knows, instead of the distance to the id before.
    const HIDDEN: [u8; 2] = [0xfe, 0x7f];
    let mut places = Vec::new();
    let mut at = Cursor { bytes: footer, at: 0 };
    at.each(4, &mut |group| group.each(1, &mut |chunk| chunk.column(&mut places)))?;
    let (mut mended, mut start) = (Vec::new(), 0);
    for place in &places {
        mended.extend_from_slice(footer.get(start..*place)?);
        mended.push(footer.get(*place)? & 0x0f);
        mended.extend_from_slice(&HIDDEN);
        start = place + 1;
    }
    mended.extend_from_slice(footer.get(start..)?);
    (!places.is_empty()).then_some(mended)
}

impl Cursor<'_> {
    /// Goes over a struct, and over the structs of its field `wanted`, which is a list.
    fn each(&mut self, wanted: i64, take: &mut dyn FnMut(&mut Self) -> Option<()>) -> Option<()> {
        let mut id = 0;
        while let Some(kind) = self.field(&mut id)? {
            match (id, kind) {
                (id, LIST) if id == wanted => {
                    for _ in 0..self.list()?.0 {
                        take(self)?;
                    }
                }
                _ => self.skip(kind, 0)?,
            }
        }
        Some(())
    }

    /// Goes over a column chunk and notes what stands in the place of the length of its Bloom filter.
    fn column(&mut self, places: &mut Vec<usize>) -> Option<()> {
        let mut id = 0;
        while let Some(kind) = self.field(&mut id)? {
            if (id, kind) != (3, STRUCT) {
                self.skip(kind, 0)?;
                continue;
            }
            let mut id = 0;
            loop {
                let start = self.at;
                let Some(kind) = self.field(&mut id)? else { break };
                self.skip(kind, 0)?;
                // What follows counts from the id that is hidden, so it must be the last.
                if id == 15 && kind != INT && self.bytes.get(self.at) == Some(&0) {
                    places.push(start);
                }
            }
        }
        Some(())
    }
}
