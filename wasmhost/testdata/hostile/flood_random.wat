;; asks for 8 MiB of random numbers for ever
(module
  (import "wasi_snapshot_preview1" "random_get" (func $random_get (param i32 i32) (result i32)))
  (memory (export "memory") 128)
  (func (export "tool_call") (result i32)
    (loop $l (drop (call $random_get (i32.const 0) (i32.const 8388608))) (br $l))
    (i32.const 0)))
