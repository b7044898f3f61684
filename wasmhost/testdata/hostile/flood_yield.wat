;; yields for ever
(module
  (import "wasi_snapshot_preview1" "sched_yield" (func $sched_yield (result i32)))
  (memory (export "memory") 2)
  (func (export "tool_call") (result i32)
    (loop $l (drop (call $sched_yield)) (br $l))
    (i32.const 0)))
