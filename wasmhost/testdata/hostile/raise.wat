;; raises a signal
(module
  (import "extism:host/user" "weir_output_write" (func $weir_output_write (param i32 i32)))
  (import "wasi_snapshot_preview1" "proc_raise" (func $proc_raise (param i32) (result i32)))
  (memory (export "memory") 2)
  (data (i32.const 8) "{\22block\22:false}")
  (func (export "tool_call") (result i32)
    (drop (call $proc_raise (i32.const 9)))
    (call $weir_output_write (i32.const 8) (i32.const 15))
    (i32.const 0)))
