;; calls an empty function through a table for ever
(module
  (memory (export "memory") 2)
  (table 1 funcref)
  (elem (i32.const 0) $nothing)
  (func $nothing)
  (func (export "tool_call") (result i32)
    (loop $l (call_indirect (i32.const 0)) (br $l))
    (i32.const 0)))
