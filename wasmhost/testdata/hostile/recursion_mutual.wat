;; two functions call each other for ever
(module
  (memory (export "memory") 2)
  (func $a (call $b) (call $b))
  (func $b (call $a) (call $a))
  (func (export "tool_call") (result i32)
    (call $a)
    (i32.const 0)))
