;; exits with 0 in weir_describe
(module
  (import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))
  (memory (export "memory") 2)
  (func (export "weir_describe") (result i32)
    (call $proc_exit (i32.const 0))
    (i32.const 0))
  (func (export "tool_call") (result i32) (i32.const 0)))
