;; fills past the end of a table
(module
  (memory (export "memory") 2)
  (table $t 2 funcref)
  (func (export "tool_call") (result i32)
    (table.fill $t (i32.const 1) (ref.null func) (i32.const 2))
    (i32.const 0)))
