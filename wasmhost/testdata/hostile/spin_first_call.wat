;; loops for ever while its memory is fresh: a second call of the same instance would allow
(module
  (import "extism:host/user" "weir_output_write" (func $weir_output_write (param i32 i32)))
  (memory (export "memory") 2)
  (data (i32.const 8) "{\22block\22:false}")
  (func (export "tool_call") (result i32)
    (if (i32.eqz (i32.load (i32.const 64))) (then (i32.store (i32.const 64) (i32.const 1)) (loop $l (br $l))))
    (call $weir_output_write (i32.const 8) (i32.const 15))
    (i32.const 0)))
