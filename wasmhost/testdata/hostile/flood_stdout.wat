;; writes to stdout for ever
(module
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 2)
  (func (export "tool_call") (result i32)
    (i32.store (i32.const 64) (i32.const 8)) (i32.store (i32.const 68) (i32.const 15))
    (loop $l (drop (call $fd_write (i32.const 1) (i32.const 64) (i32.const 1) (i32.const 72))) (br $l))
    (i32.const 0)))
