;; writes 8 MiB of line ends to stdout, 1,024 times in one call
(module
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 128)
  (func (export "tool_call") (result i32)
    (local $i i32)
    (memory.fill (i32.const 65536) (i32.const 10) (i32.const 8323072))
    (loop $l
    (i32.store (local.get $i) (i32.const 65536)) (i32.store offset=4 (local.get $i) (i32.const 8323072))
    (br_if $l (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 8))) (i32.const 4096))))
    (drop (call $fd_write (i32.const 1) (i32.const 0) (i32.const 512) (i32.const 65528)))
    (i32.const 0)))
