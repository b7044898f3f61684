;; writes past the end of a table
(module
  (memory (export "memory") 2)
  (table $t 2 funcref)
  (func (export "tool_call") (result i32)
    (table.set $t (i32.const 2) (ref.null func))
    (i32.const 0)))
