;; opens every descriptor as a folder, and traps when it succeeds
(module
  (import "extism:host/user" "weir_output_write" (func $weir_output_write (param i32 i32)))
  (import "wasi_snapshot_preview1" "path_open" (func $path_open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (memory (export "memory") 2)
  (data (i32.const 8) "{\22block\22:false}")
  (func (export "tool_call") (result i32)
    (local $fd i32)
    (loop $l
    (if (i32.eqz (call $path_open (local.get $fd) (i32.const 0) (i32.const 8) (i32.const 1) (i32.const 0) (i64.const -1) (i64.const -1) (i32.const 0) (i32.const 64))) (then (unreachable)))
    (br_if $l (i32.lt_u (local.tee $fd (i32.add (local.get $fd) (i32.const 1))) (i32.const 100))))
    (call $weir_output_write (i32.const 8) (i32.const 15))
    (i32.const 0)))
