;; counts a global for ever
(module
  (memory (export "memory") 2)
  (global $n (mut i64) (i64.const 0))
  (func (export "tool_call") (result i32)
    (loop $l (global.set $n (i64.add (global.get $n) (i64.const 1))) (br $l))
    (i32.const 0)))
