//! `sum` and `avg` that do not wrap: DataFusion's own accumulators over wider values.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::ScalarValue;
use datafusion::error::Result;
use datafusion::functions_aggregate::average::avg_udaf;
use datafusion::functions_aggregate::count::count_udaf;
use datafusion::functions_aggregate::sum::sum_udaf;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, GroupsAccumulator, ReversedUDAF, SetMonotonicity, Signature,
    TypeSignature, Volatility,
};

use super::wide::{Outcome, Wide, WideGroups, wider};

/// All aggregates that are replaced.
pub(super) fn all() -> Vec<Arc<AggregateUDF>> {
    [Aggregate::sum(), Aggregate::avg()].into_iter().map(|it| Arc::new(AggregateUDF::from(it))).collect()
}

/// `sum` or `avg`.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Aggregate {
    /// DataFusion's function of the same name.
    inner: Arc<AggregateUDF>,
    average: bool,
    signature: Signature,
}

impl Aggregate {
    fn sum() -> Self {
        let inner = sum_udaf();
        Self { signature: inner.signature().clone(), inner, average: false }
    }

    /// Integers stay such, where DataFusion would make doubles of them before they are added.
    fn avg() -> Self {
        let inner = avg_udaf();
        let mut kinds = match &sum_udaf().signature().type_signature {
            TypeSignature::OneOf(kinds) => kinds.clone(),
            other => vec![other.clone()],
        };
        // All but the last, intervals, have an average.
        kinds.pop();
        kinds.push(inner.signature().type_signature.clone());
        Self { signature: Signature::one_of(kinds, Volatility::Immutable), inner, average: true }
    }

    /// What accumulates values of a type: the functions whose parts of the result they are, and the type of each part.
    fn parts(&self, input: &DataType) -> Option<Parts> {
        let wide = wider(input)?;
        let sum = sum_udaf().return_type(std::slice::from_ref(&wide)).ok()?;
        let quotient = self.average && !matches!(input, DataType::Decimal128(..));
        match (self.average, quotient) {
            (false, _) => Some(Parts { wide, functions: vec![(sum_udaf(), sum)] }),
            (true, true) => Some(Parts { wide, functions: vec![(sum_udaf(), sum), (count_udaf(), DataType::Int64)] }),
            // The average of decimals is wide enough already.
            (true, false) => None,
        }
    }
}

struct Parts {
    /// The type in which values are accumulated.
    wide: DataType,
    functions: Vec<(Arc<AggregateUDF>, DataType)>,
}

impl Parts {
    /// The arguments of one part, from those of the whole.
    fn with<T>(
        &self,
        args: &AccumulatorArgs<'_>,
        make: impl Fn(&AggregateUDF, AccumulatorArgs<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        let fields: Vec<FieldRef> = args
            .expr_fields
            .iter()
            .map(|field| Arc::new(field.as_ref().clone().with_data_type(self.wide.clone())))
            .collect();
        let one = |(function, kind): &(Arc<AggregateUDF>, DataType)| {
            let args = AccumulatorArgs {
                return_field: Arc::new(Field::new(args.name, kind.clone(), true)),
                schema: args.schema,
                ignore_nulls: args.ignore_nulls,
                order_bys: args.order_bys,
                is_reversed: args.is_reversed,
                name: args.name,
                is_distinct: args.is_distinct,
                exprs: args.exprs,
                expr_fields: &fields,
            };
            make(function, args)
        };
        self.functions.iter().map(one).collect()
    }
}

/// The type of the only argument.
fn input(fields: &[FieldRef]) -> DataType {
    fields.first().map_or(DataType::Null, |field| field.data_type().clone())
}

fn outcome(args: &AccumulatorArgs<'_>) -> Outcome {
    Outcome { kind: args.return_field.data_type().clone(), text: args.name.to_owned() }
}

/// Decimals that need no wider type are looked at all the same: their digits may leave the type.
fn looked_at(args: &AccumulatorArgs<'_>) -> bool {
    matches!(args.return_field.data_type(), DataType::Decimal128(..))
}

impl AggregateUDFImpl for Aggregate {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn aliases(&self) -> &[String] {
        self.inner.aliases()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        self.inner.return_type(arg_types)
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let outcome = outcome(&args);
        match self.parts(&input(args.expr_fields)) {
            Some(parts) => {
                let made = parts.with(&args, |function, args| function.accumulator(args))?;
                Ok(Box::new(Wide { parts: made, to: Some(parts.wide), outcome }))
            }
            None if looked_at(&args) => {
                Ok(Box::new(Wide { parts: vec![self.inner.accumulator(args)?], to: None, outcome }))
            }
            None => self.inner.accumulator(args),
        }
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let outcome = outcome(&args);
        match self.parts(&input(args.expr_fields)) {
            Some(parts) => {
                let made = parts.with(&args, |function, args| function.create_sliding_accumulator(args))?;
                Ok(Box::new(Wide { parts: made, to: Some(parts.wide), outcome }))
            }
            None if looked_at(&args) => {
                Ok(Box::new(Wide { parts: vec![self.inner.create_sliding_accumulator(args)?], to: None, outcome }))
            }
            None => self.inner.create_sliding_accumulator(args),
        }
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let Some(parts) = self.parts(&input(args.input_fields)) else { return self.inner.state_fields(args) };
        let inputs: Vec<FieldRef> = args
            .input_fields
            .iter()
            .map(|field| Arc::new(field.as_ref().clone().with_data_type(parts.wide.clone())))
            .collect();
        let mut fields = Vec::new();
        for (function, kind) in &parts.functions {
            fields.extend(function.state_fields(StateFieldsArgs {
                name: args.name,
                input_fields: &inputs,
                return_field: Arc::new(Field::new(args.name, kind.clone(), true)),
                ordering_fields: args.ordering_fields,
                is_distinct: args.is_distinct,
            })?);
        }
        Ok(fields)
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs<'_>) -> bool {
        !args.is_distinct && self.inner.groups_accumulator_supported(args)
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn GroupsAccumulator>> {
        let outcome = outcome(&args);
        match self.parts(&input(args.expr_fields)) {
            Some(parts) => {
                let made = parts.with(&args, |function, args| function.create_groups_accumulator(args))?;
                Ok(Box::new(WideGroups { parts: made, to: Some(parts.wide), outcome }))
            }
            None if looked_at(&args) => {
                Ok(Box::new(WideGroups { parts: vec![self.inner.create_groups_accumulator(args)?], to: None, outcome }))
            }
            None => self.inner.create_groups_accumulator(args),
        }
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Identical
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Insensitive
    }

    fn default_value(&self, data_type: &DataType) -> Result<ScalarValue> {
        self.inner.default_value(data_type)
    }

    fn set_monotonicity(&self, data_type: &DataType) -> SetMonotonicity {
        self.inner.inner().set_monotonicity(data_type)
    }
}
