;; divides for ever
(module
  (memory (export "memory") 2)
  (func (export "tool_call") (result i32)
    (local $x i64)
    (loop $l (local.set $x (i64.div_u (i64.const -1) (i64.or (local.get $x) (i64.const 1)))) (br $l))
    (i32.const 0)))
