//! The macros that make [`Op`](super::Op), [`Opcode`](super::Opcode) and their methods out of the table of operations.

/// Makes [`Op`], [`Opcode`], [`UnaryOp`], [`BinaryOp`] and what goes through attributes out of the table.
macro_rules! operations {
    (
        $(#[$op_doc:meta])* special { $($special:tt)* }
        opcodes { $( $own:ident $own_opcode:literal [$($own_flag:ident)*], )* }
        unary { $( $unary:ident $unary_opcode:literal, )* }
        binary { $( $binary:ident $binary_opcode:literal, )* }
        units { $( $(#[$unit_doc:meta])* $unit:ident $unit_opcode:literal [$($unit_flag:ident)*], )* }
        fields { $( $(#[$doc:meta])* $variant:ident $opcode:literal [$($flag:ident)*] {
            $( $(#[$field_doc:meta])* $field:ident: $type:ty = $name:literal $spelling:expr, $presence:ident $(($default:expr))?; )*
        } )* }
    ) => {
        spelled! {
            /// An elementwise operation of one operand.
            #[non_exhaustive]
            UnaryOp { $($unary $unary_opcode,)* }
        }

        spelled! {
            /// An elementwise operation of two operands.
            #[non_exhaustive]
            BinaryOp { $($binary $binary_opcode,)* }
        }

        spelled! {
            /// What an instruction does, without its attributes: the word that stands before its operands in HLO text.
            ///
            /// [`Op`] has the attributes as well; [`Op::opcode`] leads here.
            #[non_exhaustive]
            Opcode {
                $($own $own_opcode,)* $($unary $unary_opcode,)* $($binary $binary_opcode,)*
                $($unit $unit_opcode,)* $($variant $opcode,)*
            }
        }

        impl Opcode {
            pub(in crate::ir::op) fn flags(self) -> u8 {
                use crate::ir::op::opcode::flags::*;
                match self {
                    $( Opcode::$own => 0 $(| $own_flag)*, )*
                    $( Opcode::$unary )|* => COMPUTED | ELEMENTWISE | SHAPE_FOLLOWS,
                    $( Opcode::$binary )|* => COMPUTED | ELEMENTWISE | SHAPE_FOLLOWS,
                    $( Opcode::$unit => 0 $(| $unit_flag)*, )*
                    $( Opcode::$variant => 0 $(| $flag)*, )*
                }
            }
        }

        impl From<UnaryOp> for Opcode {
            fn from(op: UnaryOp) -> Self {
                match op { $( UnaryOp::$unary => Opcode::$unary, )* }
            }
        }

        impl From<BinaryOp> for Opcode {
            fn from(op: BinaryOp) -> Self {
                match op { $( BinaryOp::$binary => Opcode::$binary, )* }
            }
        }

        $(#[$op_doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Op {
            $($special)*
            $( $(#[$unit_doc])* $unit, )*
            $( $(#[$doc])* $variant { $( $(#[$field_doc])* $field: presence_type!($presence $type), )* }, )*
        }

        /// The attributes owned by the operation of an opcode; `None` for those with a syntax of their own.
        pub(super) fn declared_fields(opcode: Opcode) -> Option<&'static [Field]> {
            match opcode {
                $( Opcode::$unit )|* => Some(&[]),
                $( Opcode::$unary )|* => Some(&[]),
                $( Opcode::$binary )|* => Some(&[]),
                $( Opcode::$variant => {
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
        pub(super) fn declared_op(opcode: Opcode, values: &mut FieldValues) -> Option<Result<Op, &'static str>> {
            match opcode {
                $( Opcode::$unary => Some(Ok(Op::Unary(UnaryOp::$unary))), )*
                $( Opcode::$binary => Some(Ok(Op::Binary(BinaryOp::$binary))), )*
                $( Opcode::$unit => Some(Ok(Op::$unit)), )*
                $( Opcode::$variant => {
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
            /// The opcode: the operation without its attributes. Of an asynchronous shorthand it is `async-start`,
            /// `async-update` or `async-done`.
            pub fn opcode(&self) -> Opcode {
                match self {
                    Op::Unary(op) => (*op).into(),
                    Op::Binary(op) => (*op).into(),
                    Op::AsyncShorthand { phase: AsyncPhase::Start, .. } => Opcode::AsyncStart,
                    Op::AsyncShorthand { phase: AsyncPhase::Update, .. } => Opcode::AsyncUpdate,
                    Op::AsyncShorthand { phase: AsyncPhase::Done, .. } => Opcode::AsyncDone,
                    $( Op::$own { .. } => Opcode::$own, )*
                    $( Op::$unit => Opcode::$unit, )*
                    $( Op::$variant { .. } => Opcode::$variant, )*
                }
            }

            /// Shows the attributes it owns, in the order of the text; those that are not printed only if `all`.
            pub(super) fn declared_visit<'a>(&'a self, all: bool, mut show: impl FnMut(&'static Field, FieldView<'a>)) {
                match self {
                    $( Op::$variant { $($field),* } => {
                        let mut fields = declared_fields(Opcode::$variant).unwrap_or(&[]).iter();
                        $( if let Some(field) = fields.next() {
                            presence_show!($presence $(($default))? field, $field, all, show);
                        } )*
                    } )*
                    _ => {}
                }
            }

            pub(super) fn declared_callees(&mut self, visit: &mut dyn FnMut(&mut ComputationId)) {
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
