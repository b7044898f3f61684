;; gives a scatter list that leads outside its memory
(module
  (import "extism:host/user" "weir_output_write" (func $weir_output_write (param i32 i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 2)
  (data (i32.const 8) "{\22block\22:false}")
  (func (export "tool_call") (result i32)
    (i32.store (i32.const 64) (i32.const 131000)) (i32.store (i32.const 68) (i32.const 1000))
    (drop (call $fd_write (i32.const 1) (i32.const 64) (i32.const 1) (i32.const 0)))
    (call $weir_output_write (i32.const 8) (i32.const 15))
    (i32.const 0)))
