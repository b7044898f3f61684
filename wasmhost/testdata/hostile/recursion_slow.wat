;; recurses to a depth of 1,000 again and again, deeper each time
(module
  (memory (export "memory") 2)
  (func $r (param $n i64) (result i64)
    (if (i64.eqz (local.get $n)) (then (return (i64.const 0))))
    (i64.add (call $r (i64.sub (local.get $n) (i64.const 1))) (i64.const 1)))
  (func (export "tool_call") (result i32)
    (local $n i64)
    (local.set $n (i64.const 1000))
    (loop $l (drop (call $r (local.get $n))) (local.set $n (i64.mul (local.get $n) (i64.const 2))) (br $l))
    (i32.const 0)))
