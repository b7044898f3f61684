;; A plain Extism module: no weir_describe, Extism's env only. It blocks every tool call, but exits for an input of less than 300 bytes.
(module
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "store_u8" (func $store_u8 (param i64 i32)))
  (import "extism:host/env" "input_length" (func $input_length (result i64)))
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))
  (memory (export "memory") 1)
  (data (i32.const 1024) "{\22block\22:true,\22reason\22:\22no tools today\22}")
  (func (export "tool_call") (result i32)
    (local $o i64) (local $i i32)
    (if (i64.lt_u (call $input_length) (i64.const 300)) (then (call $proc_exit (i32.const 0))))
    (local.set $o (call $alloc (i64.const 40)))
    (loop $next
      (call $store_u8 (i64.add (local.get $o) (i64.extend_i32_u (local.get $i))) (i32.load8_u offset=1024 (local.get $i)))
      (br_if $next (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 40))))
    (call $output_set (local.get $o) (i64.const 40))
    (i32.const 0))
)
