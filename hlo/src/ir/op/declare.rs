//! The macros that make [`Op`](super::Op) out of its table: the enum, and what goes through its attributes.

/// Makes [`Op`] and what goes through its attributes out of the table.
macro_rules! operations {
    (
        $(#[$op_doc:meta])* special { $($special:tt)* }
        units { $( $(#[$unit_doc:meta])* $unit:ident $unit_opcode:literal, )* }
        fields { $( $(#[$doc:meta])* $variant:ident $opcode:literal {
            $( $(#[$field_doc:meta])* $field:ident: $type:ty = $name:literal $spelling:expr, $presence:ident $(($default:expr))?; )*
        } )* }
    ) => {
        $(#[$op_doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Op {
            $($special)*
            $( $(#[$unit_doc])* $unit, )*
            $( $(#[$doc])* $variant { $( $(#[$field_doc])* $field: presence_type!($presence $type), )* }, )*
        }

        /// The attributes owned by the operation of an opcode; `None` for unknown ones and those with a syntax of their
        /// own.
        fn declared_fields(opcode: &str) -> Option<&'static [Field]> {
            match opcode {
                $( $unit_opcode => Some(&[]), )*
                $( $opcode => {
                    use Spelling::*;
                    const FIELDS: &[Field] = &[$( Field {
                        name: $name, spelling: $spelling, presence: Presence::$presence,
                    }, )*];
                    Some(FIELDS)
                } )*
                _ => None,
            }
        }

        /// The operation of an opcode with these attributes; fails with the name of one that is missing.
        fn declared_op(opcode: &str, values: &mut FieldValues) -> Option<Result<Op, &'static str>> {
            match opcode {
                $( $unit_opcode => Some(Ok(Op::$unit)), )*
                $( $opcode => {
                    $( let $field = match presence_take!($presence $(($default))? values, $name) {
                        Ok(value) => value,
                        Err(missing) => return Some(Err(missing)),
                    }; )*
                    Some(Ok(Op::$variant { $($field),* }))
                } )*
                _ => None,
            }
        }

        impl Op {
            fn declared_opcode(&self) -> Option<&'static str> {
                match self {
                    $( Op::$unit => Some($unit_opcode), )*
                    $( Op::$variant { .. } => Some($opcode), )*
                    _ => None,
                }
            }

            /// Shows the attributes it owns, in the order of the text; those that are not printed only if `all`.
            fn declared_visit<'a>(&'a self, all: bool, mut show: impl FnMut(&'static Field, FieldView<'a>)) {
                match self {
                    $( Op::$variant { $($field),* } => {
                        let mut fields = declared_fields($opcode).unwrap_or(&[]).iter();
                        $( if let Some(field) = fields.next() {
                            presence_show!($presence $(($default))? field, $field, all, show);
                        } )*
                    } )*
                    _ => {}
                }
            }

            fn declared_callees(&mut self, visit: &mut dyn FnMut(&mut ComputationId)) {
                match self {
                    $( Op::$variant { $($field),* } => { $( presence_callees!($presence $field, visit); )* } )*
                    _ => {}
                }
            }
        }
    };
}

macro_rules! presence_type {
    (Optional $type:ty) => { Option<$type> };
    ($other:ident $type:ty) => { $type };
}

macro_rules! presence_take {
    (Required $values:ident, $name:literal) => {
        $values.take($name).ok_or($name)
    };
    (Optional $values:ident, $name:literal) => {
        Ok($values.take($name))
    };
    ($other:ident ($default:expr) $values:ident, $name:literal) => {
        Ok($values.take($name).unwrap_or_else(|| $default))
    };
}

macro_rules! presence_show {
    (Optional $field:ident, $value:ident, $all:ident, $show:ident) => {
        if let Some(value) = $value {
            $show($field, value.view());
        }
    };
    (Default ($default:expr) $field:ident, $value:ident, $all:ident, $show:ident) => {
        if $all || !same($value, &$default) {
            $show($field, $value.view());
        }
    };
    ($other:ident $(($default:expr))? $field:ident, $value:ident, $all:ident, $show:ident) => {
        $show($field, $value.view());
    };
}

/// Whether a value is the default, whose type it fixes.
pub(super) fn same<T: PartialEq>(value: &T, default: &T) -> bool {
    value == default
}

macro_rules! presence_callees {
    (Optional $value:ident, $visit:ident) => {
        if let Some(value) = $value {
            value.callees().iter_mut().for_each(&mut *$visit);
        }
    };
    ($other:ident $value:ident, $visit:ident) => {
        $value.callees().iter_mut().for_each(&mut *$visit);
    };
}
