//! The changes that `ALTER TABLE` makes of (spec: features.md B10).

use crate::types::DataType;

/// One change of a schema. A `path` names a column, or a field inside one: names of ROW fields, `element` of an ARRAY,
/// `value` of a MAP.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemaChange {
    /// Sets an option.
    SetOption {
        /// Key.
        key: String,
        /// Text.
        value: String,
    },
    /// Removes an option.
    RemoveOption {
        /// Key.
        key: String,
    },
    /// Sets or removes the comment of the table.
    UpdateComment {
        /// Comment.
        comment: Option<String>,
    },
    /// Adds a nullable column or field.
    AddColumn {
        /// Where it is to be found.
        path: Vec<String>,
        /// Type; ids inside of it are assigned anew.
        data_type: DataType,
        /// Comment.
        description: Option<String>,
        /// Place among its siblings; the end, or before the partition columns with `add-column-before-partition`.
        position: Option<Position>,
    },
    /// Renames a column or field; options that name the column follow.
    RenameColumn {
        /// What to rename.
        path: Vec<String>,
        /// New last name.
        new_name: String,
    },
    /// Drops a column or field.
    DropColumn {
        /// What to drop.
        path: Vec<String>,
    },
    /// Changes a type to one that old values can be cast to.
    UpdateColumnType {
        /// What to change.
        path: Vec<String>,
        /// New type.
        new_type: DataType,
        /// Whether the old nullability stays.
        keep_nullability: bool,
    },
    /// Changes whether null is allowed.
    UpdateColumnNullability {
        /// What to change.
        path: Vec<String>,
        /// Whether null is allowed from now on.
        nullable: bool,
    },
    /// Sets or removes the comment of a column or field.
    UpdateColumnComment {
        /// What to change.
        path: Vec<String>,
        /// Comment.
        comment: Option<String>,
    },
    /// Sets or removes the default value of a column or field.
    UpdateColumnDefault {
        /// What to change.
        path: Vec<String>,
        /// Value as SQL text.
        default: Option<String>,
    },
    /// Moves a column.
    UpdateColumnPosition {
        /// Which one.
        name: String,
        /// Where to.
        position: Position,
    },
    /// Makes an append table of an empty primary-key table.
    DropPrimaryKey,
}

/// A place among the columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Position {
    /// Before all others.
    First,
    /// Right after this column.
    After(String),
    /// Right before this column.
    Before(String),
    /// After all others.
    Last,
}
