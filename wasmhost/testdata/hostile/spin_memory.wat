;; reads and writes memory for ever
(module
  (memory (export "memory") 2)
  (func (export "tool_call") (result i32)
    (local $i i32)
    (loop $l
    (i64.store (local.get $i) (i64.load offset=8 (local.get $i)))
    (local.set $i (i32.and (i32.add (local.get $i) (i32.const 8)) (i32.const 0xffff)))
    (br $l))
    (i32.const 0)))
