;; traps in the 1,000th call
(module
  (memory (export "memory") 2)
  (func $r (param $n i32)
    (if (i32.eqz (local.get $n)) (then (unreachable)))
    (call $r (i32.sub (local.get $n) (i32.const 1))) (i32.store (i32.const 0) (local.get $n)))
  (func (export "tool_call") (result i32)
    (call $r (i32.const 1000))
    (i32.const 0)))
