//! What the functions do, as algebra: it decides which records of a key can be one where older ones are not known.
//!
//! Two records are one where a third does to every older value, and in every order that a sequence group gives them, what the
//! two do one after the other. The engines derive that from what follows, of each function once, and know no names.

use super::FunctionPlan;

/// What adding a value does to the value that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Adding {
    /// It joins it, in any order with the same result; a null changes nothing.
    Commutes,
    /// It takes its place, be it null.
    Replaces,
    /// It takes its place unless it is null, at its place in the order.
    Fills,
    /// It joins it at its place in the order, with another result elsewhere; a null changes nothing.
    Ordered,
    /// The same, but a null counts as well.
    OrderedWithNulls,
    /// As [`Adding::Ordered`], but whether it is taken depends on those that are there already.
    Lone,
}

/// What a retraction does to the value that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taking {
    /// Nothing, or it is refused.
    Nothing,
    /// The inverse of what the addition did, whatever came in between: it is as good as an addition of the inverse.
    Inverts,
    /// It makes the value null.
    Clears,
    /// The same, unless what is taken back is null.
    ClearsByValue,
    /// It takes away what is there, so that what was added before is not what is added afterwards; a null nothing.
    InTurn,
    /// The same, and what two retractions take away is not the same when it is taken away at once.
    Alone,
}

/// What a function does with the values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Algebra {
    pub(crate) adding: Adding,
    pub(crate) taking: Taking,
}

impl Algebra {
    /// Of a column's function.
    pub(crate) fn of(plan: &FunctionPlan) -> Self {
        use Adding::{Commutes, Fills, Lone, Ordered, OrderedWithNulls, Replaces};
        use Taking::{Alone, Clears, ClearsByValue, InTurn, Inverts, Nothing};
        let options = &plan.options;
        let (adding, taking) = match plan.function.as_str() {
            "sum" => (Commutes, Inverts),
            "product" => (Commutes, Alone),
            "max" | "min" | "bool_and" | "bool_or" | "theta_sketch" | "hll_sketch" | "rbm32" | "rbm64" => {
                (Commutes, Nothing)
            }
            "last_value" | "primary-key" => (Replaces, Clears),
            "last_non_null_value" => (Fills, ClearsByValue),
            "first_value" => (OrderedWithNulls, Nothing),
            "collect" | "merge_map" => (Ordered, InTurn),
            "nested_update" if options.count_limit.is_none() => (Ordered, InTurn),
            "nested_update" if options.nested_key.is_empty() => (Ordered, Alone),
            "nested_update" => (Lone, Alone),
            _ => (Ordered, Nothing),
        };
        Self { adding, taking: if options.ignore_retract { Nothing } else { taking } }
    }

    /// Whether several retractions can be one that holds what all of them take back.
    pub(crate) fn unites_retractions(self) -> bool {
        matches!(self.taking, Taking::Inverts | Taking::ClearsByValue | Taking::InTurn)
    }

    /// Whether a value that is taken back before there was one is owed.
    pub(crate) fn has_debts(self) -> bool {
        self.taking == Taking::Inverts
    }

    /// Whether the result depends on the order of the values that are added.
    pub(crate) fn depends_on_order(self) -> bool {
        !matches!(self.adding, Adding::Commutes | Adding::Replaces)
    }

    /// Whether adding a null changes nothing, early or late.
    pub(crate) fn leaves_nulls_out(self) -> bool {
        !matches!(self.adding, Adding::Replaces | Adding::OrderedWithNulls)
    }

    /// Whether a retraction of a value, null or not, does to a column of a sequence group what an addition would do.
    pub(crate) fn is_as_addition(self, null: bool) -> bool {
        match self.taking {
            Taking::Inverts => true,
            // What is nothing is the addition of a null.
            Taking::Nothing => self.leaves_nulls_out(),
            // However late it comes, which an addition does not.
            Taking::Clears => false,
            Taking::ClearsByValue | Taking::InTurn | Taking::Alone => null && self.leaves_nulls_out(),
        }
    }
}
