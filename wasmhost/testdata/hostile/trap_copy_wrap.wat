;; copies a range that wraps
(module
  (memory (export "memory") 2)
  (func (export "tool_call") (result i32)
    (memory.copy (i32.const -8) (i32.const 0) (i32.const 16))
    (i32.const 0)))
