;; has random numbers written outside its memory
(module
  (import "extism:host/user" "weir_output_write" (func $weir_output_write (param i32 i32)))
  (import "wasi_snapshot_preview1" "random_get" (func $random_get (param i32 i32) (result i32)))
  (memory (export "memory") 2)
  (data (i32.const 8) "{\22block\22:false}")
  (func (export "tool_call") (result i32)
    (drop (call $random_get (i32.const 131071) (i32.const 2)))
    (call $weir_output_write (i32.const 8) (i32.const 15))
    (i32.const 0)))
