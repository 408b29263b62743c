//! What a merge reads, how it orders and merges, and what it returns: derived from the table once, then shared.
//!
//! The columns read are projection ∪ key ∪ sequence fields ∪ columns that decide removal, so that a projection never
//! changes which rows there are (cases: M4); the projection is applied after merging.

use std::collections::HashSet;

use arrow_array::{Array, ArrayRef};
use arrow_schema::SchemaRef;
use linn_format::options::table::key;
use linn_format::options::{MergeEngine as EngineOption, Options, SortOrder};
use linn_format::schema::TableSchema;
use linn_format::types::arrow_schema;
use linn_format::types::{DataField, DataType, Kind, SEQUENCE_NUMBER, SEQUENCE_NUMBER_ID, VALUE_KIND, VALUE_KIND_ID};
use linn_format::{Error, Result};

use super::engine::{
    Aggregate, AggregatePlan, DELETE, Deduplicate, Extent, FirstRow, GroupPlan, MergeEngine, PartialPlan,
    PartialUpdate, Sequence,
};
use super::function::{FunctionOptions, FunctionPlan, NullKey};
use super::key::KeyEncoder;
use super::source::is_retract;

/// How one table's records are merged, for one projection.
#[derive(Debug)]
pub struct MergeSpec {
    fields: Vec<DataField>,
    wanted: usize,
    key: Vec<usize>,
    sequence: Vec<usize>,
    descending: bool,
    ignore_delete: bool,
    looks_up: bool,
    engine: EnginePlan,
    input: SchemaRef,
    output: SchemaRef,
}

#[derive(Debug)]
enum EnginePlan {
    Deduplicate,
    FirstRow,
    Partial(PartialPlan),
    Aggregate(AggregatePlan),
}

impl MergeSpec {
    /// The merge of a primary-key table that returns the columns `wanted`, which are columns of the schema.
    ///
    /// # Errors
    /// `Invalid` when the options contradict the schema, naming the option or the column; `Unsupported` naming the
    /// feature.
    pub fn of(schema: &TableSchema, wanted: &[DataField]) -> Result<Self> {
        if schema.primary_keys.is_empty() {
            return Err(Error::invalid("a table without a primary key is not merged"));
        }
        let options = &schema.options;
        let mut columns = Columns { schema, fields: wanted.to_vec() };
        let key = schema
            .primary_keys
            .iter()
            .filter(|k| !schema.partition_keys.contains(k))
            .map(|k| columns.read(k))
            .collect::<Result<Vec<_>>>()?;
        let sequence = options.sequence_fields().into_iter().map(|f| columns.read(f)).collect::<Result<Vec<_>>>()?;
        let order: Sequence = sequence.iter().map(|&at| (at, columns.fields[at].clone())).collect();
        let engine = match options.merge_engine()? {
            EngineOption::Deduplicate => EnginePlan::Deduplicate,
            EngineOption::FirstRow => EnginePlan::FirstRow,
            EngineOption::PartialUpdate => EnginePlan::Partial(partial(schema, wanted, &mut columns, order)?),
            EngineOption::Aggregate => EnginePlan::Aggregate(aggregate(schema, wanted, order)?),
        };
        let fields = columns.fields;
        let spec = Self {
            input: key_value_schema(&fields)?,
            output: key_value_schema(wanted)?,
            wanted: wanted.len(),
            fields,
            key,
            sequence,
            descending: options.sequence_sort_order()? == SortOrder::Descending,
            ignore_delete: options.ignore_delete()?,
            looks_up: options.need_lookup()?,
            engine,
        };
        spec.engine(Extent::Part)?;
        spec.key_encoder()?;
        spec.sequence_encoder()?;
        Ok(spec)
    }

    /// The value columns that the merged runs must have, in order; the wanted ones come first.
    pub fn read_fields(&self) -> &[DataField] {
        &self.fields
    }

    /// Schema of the batches that go in: [`MergeSpec::read_fields`], `_SEQUENCE_NUMBER`, `_VALUE_KIND`.
    pub fn input_schema(&self) -> &SchemaRef {
        &self.input
    }

    /// Schema of the batches that come out: the wanted columns, `_SEQUENCE_NUMBER`, `_VALUE_KIND`.
    pub fn output_schema(&self) -> &SchemaRef {
        &self.output
    }

    /// Positions of the trimmed primary key among the read columns.
    pub fn key_columns(&self) -> &[usize] {
        &self.key
    }

    /// The trimmed primary key.
    pub(crate) fn key_fields(&self) -> Vec<&DataField> {
        self.fields_at(&self.key)
    }

    /// How many of the read columns are wanted.
    pub(crate) fn wanted(&self) -> usize {
        self.wanted
    }

    /// Whether of several records above level 0 the one of the lowest level holds the others: in tables whose
    /// compactions look older records up. Where the last record stands it makes no difference.
    pub(crate) fn folds_levels(&self) -> bool {
        self.looks_up && matches!(self.engine, EnginePlan::Partial(_) | EnginePlan::Aggregate(_))
    }

    /// Whether the first record of a key stands.
    pub(crate) fn keeps_first(&self) -> bool {
        matches!(self.engine, EnginePlan::FirstRow)
    }

    /// Whether retractions are left out of groups.
    pub(crate) fn ignores_delete(&self) -> bool {
        self.ignore_delete
    }

    /// The error that any merge would end with that meets a retraction of this kind; `None` when the engine takes it.
    pub(crate) fn refusal(&self, kind: i8) -> Option<Error> {
        match &self.engine {
            _ if self.ignore_delete || !is_retract(kind) => None,
            EnginePlan::Deduplicate => None,
            EnginePlan::FirstRow => Some(FirstRow::refusal()),
            EnginePlan::Partial(plan) => (!plan.grouped && !plan.remove_on_delete).then(PartialUpdate::refusal),
            EnginePlan::Aggregate(plan) if plan.remove_on_delete && kind == DELETE => None,
            EnginePlan::Aggregate(plan) => plan.functions.iter().find_map(FunctionPlan::refusal),
        }
    }

    /// The error that a merge would end with that meets this retraction, of rows with the columns `columns`, as its sequence
    /// group has a function that takes nothing back.
    pub(crate) fn refusal_of_row(&self, kind: i8, columns: &[ArrayRef], row: usize) -> Option<Error> {
        let EnginePlan::Partial(plan) = &self.engine else { return None };
        if self.ignore_delete || !is_retract(kind) {
            return None;
        }
        let touched = |group: &&GroupPlan| {
            let sequence = group.sequence.iter().filter_map(|(column, _)| columns.get(*column));
            !(group.removes && kind == DELETE) && sequence.into_iter().any(|column| column.is_valid(row))
        };
        plan.groups.iter().filter(touched).flat_map(|group| &group.functions).find_map(FunctionPlan::refusal)
    }

    /// Whether records of a key may have to stay apart where a merge does not see all of them.
    pub(crate) fn keeps_apart(&self) -> bool {
        matches!(self.engine, EnginePlan::Partial(_) | EnginePlan::Aggregate(_))
    }

    /// Whether records may come between others by their user sequence.
    pub(crate) fn has_sequence(&self) -> bool {
        !self.sequence.is_empty()
    }

    /// Whether a retraction of this kind that nothing came before is owed by what comes afterwards (cases: M13).
    pub(crate) fn owes(&self, kind: i8) -> bool {
        match &self.engine {
            _ if self.ignore_delete => false,
            EnginePlan::Deduplicate | EnginePlan::FirstRow => false,
            EnginePlan::Partial(plan) => plan.has_debts(),
            EnginePlan::Aggregate(plan) => plan.has_debts() && !(plan.remove_on_delete && kind == DELETE),
        }
    }

    /// Whether what comes after a retraction may belong before it.
    pub(crate) fn orders_retractions(&self) -> bool {
        let grouped = matches!(&self.engine, EnginePlan::Partial(plan) if plan.grouped);
        !self.ignore_delete && !self.keeps_first() && (grouped || !self.sequence.is_empty())
    }

    /// An engine for one merge.
    pub(crate) fn engine(&self, extent: Extent) -> Result<Box<dyn MergeEngine>> {
        Ok(match &self.engine {
            EnginePlan::Deduplicate => Box::new(Deduplicate),
            EnginePlan::FirstRow => Box::new(FirstRow),
            EnginePlan::Partial(plan) => Box::new(PartialUpdate::new(plan, extent)?),
            EnginePlan::Aggregate(plan) => Box::new(Aggregate::new(plan, extent)?),
        })
    }

    /// An encoder of keys.
    pub(crate) fn key_encoder(&self) -> Result<KeyEncoder> {
        KeyEncoder::new(self.key.clone(), &self.fields_at(&self.key), false)
    }

    /// An encoder of the user sequence, if the table has one.
    pub(crate) fn sequence_encoder(&self) -> Result<Option<KeyEncoder>> {
        if self.sequence.is_empty() {
            return Ok(None);
        }
        KeyEncoder::new(self.sequence.clone(), &self.fields_at(&self.sequence), self.descending).map(Some)
    }

    fn fields_at(&self, positions: &[usize]) -> Vec<&DataField> {
        positions.iter().filter_map(|&p| self.fields.get(p)).collect()
    }
}

/// Schema of a key-value batch with these value columns.
pub fn key_value_schema(values: &[DataField]) -> Result<SchemaRef> {
    arrow_schema(&key_value_fields(values))
}

/// Columns of a key-value batch with these value columns: they, `_SEQUENCE_NUMBER`, `_VALUE_KIND`.
pub fn key_value_fields(values: &[DataField]) -> Vec<DataField> {
    let mut fields = values.to_vec();
    fields.push(DataField::new(SEQUENCE_NUMBER_ID, SEQUENCE_NUMBER, DataType::required(Kind::BigInt)));
    fields.push(DataField::new(VALUE_KIND_ID, VALUE_KIND, DataType::required(Kind::TinyInt)));
    fields
}

struct Columns<'a> {
    schema: &'a TableSchema,
    fields: Vec<DataField>,
}

impl Columns<'_> {
    /// The position of a column, which is read from now on.
    fn read(&mut self, name: &str) -> Result<usize> {
        let field = self
            .schema
            .fields
            .iter()
            .find(|f| f.name == name)
            .ok_or_else(|| Error::invalid("the table has no such column").with("column", name))?;
        Ok(match self.fields.iter().position(|f| f.id == field.id) {
            Some(at) => at,
            None => {
                self.fields.push(field.clone());
                self.fields.len() - 1
            }
        })
    }
}

fn aggregate(schema: &TableSchema, wanted: &[DataField], order: Sequence) -> Result<AggregatePlan> {
    let options = &schema.options;
    let sequence = options.sequence_fields();
    let mut functions = Vec::new();
    for (column, field) in wanted.iter().enumerate() {
        if schema.primary_keys.contains(&field.name) {
            continue;
        }
        let function = if sequence.contains(&field.name.as_str()) {
            "last_value"
        } else {
            options.aggregate_of(&field.name).unwrap_or("last_non_null_value")
        };
        functions.push(function_plan(options, column, field, function)?);
    }
    let remove_on_delete = options.is_on(&key::AGGREGATION_REMOVE_RECORD_ON_DELETE)?;
    Ok(AggregatePlan { functions, remove_on_delete, sequence: order })
}

fn partial(
    schema: &TableSchema,
    wanted: &[DataField],
    columns: &mut Columns<'_>,
    sequence: Sequence,
) -> Result<PartialPlan> {
    let options = &schema.options;
    let groups = options.sequence_groups();
    let removing = options.list(&key::PARTIAL_UPDATE_REMOVE_RECORD_ON_SEQUENCE_GROUP);
    for name in &removing {
        if !groups.iter().any(|(sequence, _)| sequence.contains(name)) {
            return Err(Error::invalid("partial-update.remove-record-on-sequence-group names no sequence field")
                .with("column", name));
        }
    }
    let mut grouped: HashSet<&str> = HashSet::new();
    let mut plans = Vec::new();
    for (sequence, protected) in &groups {
        grouped.extend(sequence.iter().chain(protected));
        let removes = sequence.iter().any(|s| removing.contains(s));
        let is_wanted = |name: &&str| wanted.iter().any(|f| f.name == *name);
        if removes || sequence.iter().chain(protected).any(is_wanted) {
            plans.push(group(schema, wanted, columns, sequence, protected, removes)?);
        }
    }
    let mut plain = Vec::new();
    for (column, field) in wanted.iter().enumerate() {
        if schema.primary_keys.contains(&field.name) || grouped.contains(field.name.as_str()) {
            continue;
        }
        let function = options.aggregate_of(&field.name);
        if function.is_some_and(|f| f != "last_non_null_value") {
            return Err(Error::invalid("an aggregate function in a partial-update table needs a sequence group")
                .with("column", &field.name));
        }
        plain.push(column);
    }
    let remove_on_delete = options.is_on(&key::PARTIAL_UPDATE_REMOVE_RECORD_ON_DELETE)?;
    Ok(PartialPlan { plain, groups: plans, grouped: !groups.is_empty(), remove_on_delete, sequence })
}

fn group(
    schema: &TableSchema,
    wanted: &[DataField],
    columns: &mut Columns<'_>,
    sequence: &[&str],
    protected: &[&str],
    removes: bool,
) -> Result<GroupPlan> {
    let options = &schema.options;
    if let Some(name) = sequence.iter().chain(protected).find(|n| schema.primary_keys.iter().any(|k| k == *n)) {
        return Err(Error::invalid("a primary key column cannot be in a sequence group").with("column", name));
    }
    let mut plan = GroupPlan { sequence: Vec::new(), protected: Vec::new(), functions: Vec::new(), removes };
    for name in sequence {
        let at = columns.read(name)?;
        let field = columns.fields[at].clone();
        plan.sequence.push((at, field));
    }
    for name in protected {
        // A column may protect itself by being both: then it follows the sequence.
        if sequence.contains(name) {
            continue;
        }
        let Some(column) = wanted.iter().position(|f| f.name == *name) else {
            if !schema.fields.iter().any(|f| f.name == *name) {
                return Err(Error::invalid("a sequence group names no column of the table").with("column", name));
            }
            continue;
        };
        match options.aggregate_of(name) {
            Some(function) => plan.functions.push(function_plan(options, column, &wanted[column], function)?),
            None => plan.protected.push(column),
        }
    }
    Ok(plan)
}

fn function_plan(options: &Options, column: usize, field: &DataField, function: &str) -> Result<FunctionPlan> {
    let of = |suffix: &str| options.of_field(&field.name, suffix);
    let is_true = |suffix: &str| of(suffix).is_some_and(|v| v.trim().eq_ignore_ascii_case("true"));
    let names = |suffix: &str| -> Vec<String> {
        of(suffix)
            .map(|v| v.split(',').map(|n| n.trim().to_owned()).filter(|n| !n.is_empty()).collect())
            .unwrap_or_default()
    };
    let count_limit = of("count-limit")
        .map(|v| v.trim().parse::<usize>())
        .transpose()
        .map_err(|e| Error::invalid("count-limit is not a number").with("column", &field.name).with_source(e))?;
    let null_key = match of("nested-key-null-strategy").map(|v| v.trim().to_ascii_lowercase()).as_deref() {
        None | Some("merge") => NullKey::Merge,
        Some("ignore") => NullKey::Ignore,
        Some("error") => NullKey::Error,
        Some(_) => {
            return Err(
                Error::invalid("nested-key-null-strategy must be merge, ignore or error").with("column", &field.name)
            );
        }
    };
    let nested_key = names("nested-key");
    for option in ["nested-key-null-strategy", "nested-sequence-field"] {
        if nested_key.is_empty() && of(option).is_some() {
            return Err(Error::invalid(format!("option fields.{}.{option} needs a nested key", field.name))
                .with("column", &field.name)
                .with_hint(format!("set 'fields.{}.nested-key' as well", field.name)));
        }
    }
    Ok(FunctionPlan {
        column,
        field: field.clone(),
        function: function.to_owned(),
        options: FunctionOptions {
            ignore_retract: is_true("ignore-retract"),
            distinct: is_true("distinct"),
            delimiter: of("list-agg-delimiter").map(str::to_owned),
            nested_key,
            nested_sequence: names("nested-sequence-field"),
            null_key,
            count_limit,
            time_field: of("ts-field").map(str::to_owned),
        },
    })
}
