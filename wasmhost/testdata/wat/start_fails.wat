;; Logs, takes memory, and traps in its start function.
(module
  (import "extism:host/user" "weir_log" (func $log (param i32 i32 i32)))
  (memory (export "memory") 16)
  (data (i32.const 64) "last words")
  (func $start (call $log (i32.const 3) (i32.const 64) (i32.const 10)) (unreachable))
  (start $start)
  (func (export "call") (result i32) (i32.const 0)))
