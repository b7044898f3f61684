;; exports globals under the names of the meter, sets them, and recurses
(module
  (memory (export "memory") 2)
  (global $depth (export "weir:depth") (mut i64) (i64.const 0))
  (func $r (global.set $depth (i64.const 0x7fffffffffffffff)) (call $r) (call $r))
  (func (export "tool_call") (result i32)
    (call $r)
    (i32.const 0)))
