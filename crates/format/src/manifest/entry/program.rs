//! A writer's schema compiled into steps: records are flattened, fields matched by name, unknown ones skipped.

use super::slots::{Field, Num, REQUIRED_NUMS, REQUIRED_VARS, Row, VARS, Var, field};
use crate::manifest::avro::{Cursor, Type, skip};
use crate::{Error, Result};

/// The branch of a union with null that means null; [`NEVER`] where there is no union.
pub(super) type NullBranch = u8;
pub(super) const NEVER: NullBranch = u8::MAX;

/// What the items of a list are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Items {
    pub(super) null: NullBranch,
}

/// One step: what to do with the next value.
enum Step {
    Num(Num, NullBranch),
    Text(Var, NullBranch),
    Bytes(Var, NullBranch),
    Longs(Var, NullBranch, Items),
    Texts(Var, NullBranch, Items),
    Skip(Type),
}

/// The steps of one entry.
pub(super) struct Program {
    steps: Vec<Step>,
    /// Items of each list, by place.
    pub(super) items: [Items; VARS],
}

impl Program {
    /// Compiles a writer's schema.
    ///
    /// # Errors
    /// `Corrupt` when a field that every entry has is missing, or one has a type that it cannot have.
    pub(super) fn compile(schema: &Type) -> Result<Self> {
        let mut program = Self { steps: Vec::new(), items: [Items { null: 0 }; VARS] };
        program.add("", schema)?;
        let has = |wanted: &dyn Fn(&Step) -> bool| program.steps.iter().any(wanted);
        let nums = REQUIRED_NUMS.iter().all(|n| has(&|s| matches!(s, Step::Num(m, NEVER) if m == n)));
        let vars =
            REQUIRED_VARS.iter().all(|v| has(&|s| matches!(s, Step::Text(w, NEVER) | Step::Bytes(w, NEVER) if w == v)));
        if nums && vars { Ok(program) } else { Err(Error::corrupt("manifest schema lacks a required field")) }
    }

    fn add(&mut self, prefix: &str, record: &Type) -> Result<()> {
        let fields = record.fields()?;
        for (name, t) in fields.names.iter().zip(&fields.types) {
            let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
            if matches!(path.as_str(), "_FILE" | "_FILE._KEY_STATS" | "_FILE._VALUE_STATS") {
                self.add(&path, t)?;
                continue;
            }
            let step = match field(&path) {
                Some(known) => self.step(known, t).ok_or_else(|| {
                    Error::corrupt(format!("manifest field {path} is written with a type that it cannot have"))
                })?,
                None => Step::Skip(t.clone()),
            };
            self.steps.push(step);
        }
        Ok(())
    }

    fn step(&mut self, field: Field, t: &Type) -> Option<Step> {
        let optional = t.optional();
        let null = optional.null.unwrap_or(NEVER);
        Some(match (field, optional.inner) {
            (Field::Num(num), Type::Long) => Step::Num(num, null),
            (Field::Text(var), Type::Bytes) => Step::Text(var, null),
            (Field::Bytes(var), Type::Bytes) => Step::Bytes(var, null),
            (Field::Longs(var), Type::Array(item)) => Step::Longs(var, null, self.items_of(var, item, Type::is_long)?),
            (Field::Texts(var), Type::Array(item)) => Step::Texts(var, null, self.items_of(var, item, Type::is_bytes)?),
            _ => return None,
        })
    }

    fn items_of(&mut self, var: Var, item: &Type, fits: impl Fn(&Type) -> bool) -> Option<Items> {
        let optional = item.optional();
        let items = Items { null: optional.null.unwrap_or(NEVER) };
        self.items[var as usize] = items;
        fits(optional.inner).then_some(items)
    }

    /// Reads one entry.
    pub(super) fn run<'a>(&self, cursor: &mut Cursor<'a>) -> Result<Row<'a>> {
        let mut row = Row::EMPTY;
        for step in &self.steps {
            match step {
                Step::Num(num, null) => {
                    if present(*null, cursor)? {
                        row.put_num(*num, cursor.long()?);
                    }
                }
                Step::Bytes(var, null) => {
                    if present(*null, cursor)? {
                        row.put_var(*var, cursor.bytes()?);
                    }
                }
                Step::Text(var, null) => {
                    if present(*null, cursor)? {
                        row.put_var(*var, text(cursor.bytes()?)?);
                    }
                }
                Step::Longs(var, null, items) => {
                    if present(*null, cursor)? {
                        row.put_var(*var, list(cursor, *items, |cursor| cursor.long().map(drop))?);
                    }
                }
                Step::Texts(var, null, items) => {
                    if present(*null, cursor)? {
                        row.put_var(*var, list(cursor, *items, |cursor| text(cursor.bytes()?).map(drop))?);
                    }
                }
                Step::Skip(t) => skip(t, cursor)?,
            }
        }
        Ok(row)
    }
}

/// Whether a value that may be null is there.
#[inline]
pub(super) fn present(null: NullBranch, cursor: &mut Cursor) -> Result<bool> {
    if null == NEVER {
        return Ok(true);
    }
    match cursor.long()? {
        branch @ (0 | 1) => Ok(branch != i64::from(null)),
        _ => Err(Error::corrupt("avro union has no such branch")),
    }
}

#[inline]
fn text(bytes: &[u8]) -> Result<&[u8]> {
    match std::str::from_utf8(bytes) {
        Ok(_) => Ok(bytes),
        Err(e) => Err(Error::corrupt("manifest holds text that is not UTF-8").with_source(e)),
    }
}

/// Passes over a list, checking its items; the bytes of the whole list.
#[inline]
fn list<'a>(cursor: &mut Cursor<'a>, items: Items, item: impl Fn(&mut Cursor<'a>) -> Result<()>) -> Result<&'a [u8]> {
    let start = cursor.position();
    loop {
        let count = cursor.block()?;
        if count == 0 {
            return Ok(cursor.since(start));
        }
        for _ in 0..count {
            if present(items.null, cursor)? {
                item(cursor)?;
            }
        }
    }
}
