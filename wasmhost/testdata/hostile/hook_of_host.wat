;; its hook is a function of the host, which decides nothing
(module
  (import "wasi_snapshot_preview1" "sched_yield" (func $yield (result i32)))
  (export "tool_call" (func $yield)))
