;; recurses with vectors alive
(module
  (memory (export "memory") 2)
  (func $r (param $v v128) (result v128) (i64x2.add (call $r (i64x2.add (local.get $v) (local.get $v))) (local.get $v)))
  (func (export "tool_call") (result i32)
    (drop (call $r (v128.const i64x2 1 2)))
    (i32.const 0)))
