;; rewrites the table that it calls through, for ever
(module
  (memory (export "memory") 2)
  (table $t 1 funcref)
  (elem (i32.const 0) $a)
  (elem declare func $b)
  (func $a)
  (func $b)
  (func (export "tool_call") (result i32)
    (loop $l (table.set $t (i32.const 0) (ref.func $b)) (call_indirect (i32.const 0)) (table.set $t (i32.const 0) (ref.func $a)) (br $l))
    (i32.const 0)))
