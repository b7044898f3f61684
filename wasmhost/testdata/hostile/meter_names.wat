;; exports globals under the names of the meter, and loops for ever
(module
  (memory (export "memory") 2)
  (global $fuel (export "weir:fuel") (mut i64) (i64.const 0x7fffffffffffffff))
  (global $depth (export "weir:depth") (mut i64) (i64.const 0x7fffffffffffffff))
  (func (export "tool_call") (result i32)
    (global.set $fuel (i64.const 0x7fffffffffffffff))
    (global.set $depth (i64.const 0x7fffffffffffffff))
    (loop $l (br $l))
    (i32.const 0)))
