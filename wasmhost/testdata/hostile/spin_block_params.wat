;; loops for ever with five values on the stack
(module
  (memory (export "memory") 2)
  (func (export "tool_call") (result i32)
    (i32.const 1) (i64.const 2) (f32.const 3) (f64.const 4) (i32.const 5)
    (loop $l (param i32 i64 f32 f64 i32) (result i32) (br $l))
    (drop)
    (i32.const 0)))
