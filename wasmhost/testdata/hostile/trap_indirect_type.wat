;; calls a function of another type through a table
(module
  (memory (export "memory") 2)
  (table 1 funcref)
  (elem (i32.const 0) $f)
  (func $f (result i32) (i32.const 1))
  (func (export "tool_call") (result i32)
    (drop (call_indirect (result i64) (i32.const 0)))
    (i32.const 0)))
