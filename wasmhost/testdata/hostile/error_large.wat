;; sets an error text of 128 KiB
(module
  (import "extism:host/user" "weir_output_write" (func $weir_output_write (param i32 i32)))
  (import "extism:host/user" "weir_error" (func $weir_error (param i32 i32)))
  (memory (export "memory") 2)
  (data (i32.const 8) "{\22block\22:false}")
  (func (export "tool_call") (result i32)
    (call $weir_error (i32.const 0) (i32.const 131072))
    (call $weir_output_write (i32.const 8) (i32.const 15))
    (i32.const 0)))
