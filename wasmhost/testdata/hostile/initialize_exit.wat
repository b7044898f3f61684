;; exits with 0 in initialize
(module
  (import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))
  (memory (export "memory") 2)
  (func $first (call $proc_exit (i32.const 0)))
  (export "_initialize" (func $first))
  (func (export "tool_call") (result i32)
    (i32.const 0)))
