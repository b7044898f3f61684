;; recurses through a table
(module
  (memory (export "memory") 2)
  (table 1 funcref)
  (elem (i32.const 0) $r)
  (func $r (call_indirect (i32.const 0)) (call_indirect (i32.const 0)))
  (func (export "tool_call") (result i32)
    (call $r)
    (i32.const 0)))
