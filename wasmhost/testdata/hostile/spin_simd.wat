;; adds vectors for ever
(module
  (memory (export "memory") 2)
  (func (export "tool_call") (result i32)
    (local $v v128)
    (loop $l (local.set $v (i32x4.add (local.get $v) (v128.const i32x4 1 2 3 4))) (br $l))
    (i32.const 0)))
