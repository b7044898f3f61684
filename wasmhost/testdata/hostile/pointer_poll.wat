;; has events written outside its memory
(module
  (import "extism:host/user" "weir_output_write" (func $weir_output_write (param i32 i32)))
  (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll_oneoff (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 2)
  (data (i32.const 8) "{\22block\22:false}")
  (func (export "tool_call") (result i32)
    (drop (call $poll_oneoff (i32.const 0) (i32.const 131060) (i32.const 1) (i32.const 0)))
    (call $weir_output_write (i32.const 8) (i32.const 15))
    (i32.const 0)))
