;; calls past the end of a table
(module
  (memory (export "memory") 2)
  (table 2 funcref)
  (func (export "tool_call") (result i32)
    (call_indirect (i32.const 2))
    (i32.const 0)))
