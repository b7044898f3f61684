;; copies an element segment for ever
(module
  (memory (export "memory") 2)
  (table $t 4 funcref)
  (elem $e func $nothing $nothing)
  (func $nothing)
  (func (export "tool_call") (result i32)
    (loop $l (table.init $t $e (i32.const 0) (i32.const 0) (i32.const 2)) (br $l))
    (i32.const 0)))
