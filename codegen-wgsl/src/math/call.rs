//! How one operation on plain values is written.

/// The WGSL spelling of an operation on scalars.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Call {
    /// The operand itself.
    Identity,
    /// A prefix operator where there is one operand, an infix operator where there are two.
    Operator(&'static str),
    /// A built-in function or the constructor of a type (`f32`, `u32` …), called by its name.
    Builtin(&'static str),
    /// A [function of this library](super::function), called by its name.
    Function(&'static str),
    /// An infix operator between the operands' keys.
    Keyed {
        /// The function of this library that gives the key of each operand.
        key: &'static str,
        /// The operator.
        operator: &'static str,
    },
}

impl Call {
    /// The function of this library that the call needs, if any; [`closure`](super::closure) takes it as it is.
    pub fn function(self) -> Option<&'static str> {
        match self {
            Call::Function(name) | Call::Keyed { key: name, .. } => Some(name),
            Call::Identity | Call::Operator(_) | Call::Builtin(_) => None,
        }
    }

    /// Rounds that loops in the library's function make at most, 0 where there are none.
    pub fn rounds(self) -> u64 {
        match self.function() {
            // A round for each bit of the exponent.
            Some("power_i32" | "power_u32") => 33,
            // A round for each eight of at most 253 binary places.
            Some("remainder_f32") => 33,
            // A round for each eleven of at most 2045 binary places.
            Some("remainder_f64") => 187,
            _ => 0,
        }
    }

    /// The call as an expression that stands without parentheses beside any operator.
    ///
    /// Operands must be such expressions too: names, literals that are not negative, calls, or what is in parentheses.
    pub fn write(self, operands: &[&str]) -> String {
        match (self, operands) {
            (Call::Identity, _) => operands.join(", "),
            (Call::Operator(operator), [x, y]) => format!("({x} {operator} {y})"),
            (Call::Operator(operator), _) => format!("({operator}{})", operands.join(", ")),
            (Call::Builtin(name) | Call::Function(name), _) => format!("{name}({})", operands.join(", ")),
            (Call::Keyed { key, operator }, _) => {
                let keys: Vec<_> = operands.iter().map(|operand| format!("{key}({operand})")).collect();
                format!("({})", keys.join(&format!(" {operator} ")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Call;

    #[test]
    fn expressions_stand_beside_any_operator() {
        let keyed = Call::Keyed { key: "total_order_f32", operator: "<" };
        let check = |call: Call, operands: &[&str], expected: &str| assert_eq!(call.write(operands), expected);
        check(Call::Identity, &["x"], "x");
        check(Call::Operator("-"), &["x"], "(-x)");
        check(Call::Operator("-"), &["x", "y"], "(x - y)");
        check(Call::Builtin("min"), &["x", "y"], "min(x, y)");
        check(Call::Function("exp_f32"), &["x"], "exp_f32(x)");
        check(keyed, &["x", "y"], "(total_order_f32(x) < total_order_f32(y))");
    }

    #[test]
    fn only_our_own_functions_are_named_as_needs() {
        assert_eq!(Call::Builtin("floor").function(), None);
        assert_eq!(Call::Function("exp_f32").function(), Some("exp_f32"));
        assert_eq!(Call::Keyed { key: "total_order_f32", operator: "<" }.function(), Some("total_order_f32"));
    }
}
