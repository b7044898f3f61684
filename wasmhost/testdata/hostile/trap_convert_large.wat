;; converts a float that is too large
(module
  (memory (export "memory") 2)
  (func (export "tool_call") (result i32)
    (drop (i64.trunc_f64_u (f64.const 1e30)))
    (i32.const 0)))
