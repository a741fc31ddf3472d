//! Kernels without their names.

use super::Kernel;

impl Kernel {
    /// The text of the kernel with numbers for names: two kernels with the same are the same but for their names.
    pub fn structure(&self) -> String {
        let mut kernel = self.clone();
        kernel.name.clear();
        for (number, memory) in kernel.memories.values_mut().enumerate() {
            memory.name = number.to_string();
        }
        for (number, function) in kernel.functions.values_mut().enumerate() {
            function.name = number.to_string();
        }
        for function in kernel.functions.values_mut().chain([&mut kernel.entry]) {
            function.values.values_mut().for_each(|value| value.name.clear());
        }
        kernel.to_string()
    }
}
