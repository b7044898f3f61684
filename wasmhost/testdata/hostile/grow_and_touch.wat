;; grows by 16 pages for ever and writes to each
(module
  (memory (export "memory") 2)
  (func (export "tool_call") (result i32)
    (local $p i32)
    (loop $l
    (local.set $p (memory.grow (i32.const 16)))
    (memory.fill (i32.shl (local.get $p) (i32.const 16)) (i32.const 7) (i32.const 1048576))
    (br $l))
    (i32.const 0)))
