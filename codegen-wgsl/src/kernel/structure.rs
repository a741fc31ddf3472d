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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_play_no_part() {
        let kernel = |x: &str, f: &str, add: &str| {
            let text = format!(
                "kernel @{f}(in %{x}: f32[64], out %y: f32[64]) {{
                  func @{f}_one(d0 in [0, 63]) -> (f32) {{
                    %0:{x}: f32 = extract %{x}[d0]
                    %1:sum: f32 = {add} %0:{x}, f32 1.0
                    return %1:sum
                  }}
                  entry groups [1] threads 64 {{
                    %0:element: f32 = call @{f}_one(d1)
                    store %y[d1], %0:element
                  }}
                }}"
            );
            Kernel::parse(&text).unwrap().structure()
        };
        assert_eq!(kernel("x", "f", "add"), kernel("layer_2", "g", "add"));
        assert_ne!(kernel("x", "f", "add"), kernel("x", "f", "multiply"));
    }
}
