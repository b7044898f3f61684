;; an element segment does not fit into its table
(module
  (memory (export "memory") 2)
  (table 1 funcref)
  (elem (i32.const 1) $f)
  (func $f)
  (func (export "tool_call") (result i32)
    (i32.const 0)))
