;; turns 2^33 times, so that a 32-bit counter of turns would wrap, and allows
(module
  (import "extism:host/user" "weir_output_write" (func $weir_output_write (param i32 i32)))
  (memory (export "memory") 2)
  (data (i32.const 8) "{\22block\22:false}")
  (func (export "tool_call") (result i32)
    (local $n i64)
    (local.set $n (i64.const 8589934592))
    (loop $l (br_if $l (i64.ne (local.tee $n (i64.sub (local.get $n) (i64.const 1))) (i64.const 0))))
    (call $weir_output_write (i32.const 8) (i32.const 15))
    (i32.const 0)))
