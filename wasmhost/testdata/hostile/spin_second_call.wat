;; allows the first time and loops for ever the second
(module
  (import "extism:host/user" "weir_output_write" (func $weir_output_write (param i32 i32)))
  (memory (export "memory") 2)
  (data (i32.const 8) "{\22block\22:false}")
  (global $called (mut i32) (i32.const 0))
  (func (export "tool_call") (result i32)
    (if (global.get $called) (then (loop $l (br $l))))
    (global.set $called (i32.const 1))
    (call $weir_output_write (i32.const 8) (i32.const 15))
    (i32.const 0)))
