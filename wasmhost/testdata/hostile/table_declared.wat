;; declares a table of a million elements
(module
  (memory (export "memory") 2)
  (table 1000000 funcref)
  (func (export "tool_call") (result i32)
    (i32.const 0)))
