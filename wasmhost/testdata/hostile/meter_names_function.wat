;; exports functions under the names of the meter, and loops for ever
(module
  (memory (export "memory") 2)
  (func (export "weir:fuel") (result i64) (i64.const 1000000))
  (func (export "refill") (result i64) (i64.const 1000000))
  (func (export "tool_call") (result i32)
    (loop $l (br $l))
    (i32.const 0)))
