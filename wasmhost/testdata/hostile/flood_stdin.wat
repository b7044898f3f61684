;; reads stdin for ever
(module
  (import "wasi_snapshot_preview1" "fd_read" (func $fd_read (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 2)
  (func (export "tool_call") (result i32)
    (loop $l (drop (call $fd_read (i32.const 0) (i32.const 64) (i32.const 1) (i32.const 72))) (br $l))
    (i32.const 0)))
