;; sleeps for a second, for ever
(module
  (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll_oneoff (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 2)
  (func (export "tool_call") (result i32)
    (loop $l (i64.store (i32.const 124) (i64.const 1000000000)) (i32.store (i32.const 116) (i32.const 1)) (drop (call $poll_oneoff (i32.const 100) (i32.const 200) (i32.const 1) (i32.const 300))) (br $l))
    (i32.const 0)))
