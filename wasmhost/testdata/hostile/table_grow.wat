;; grows a table for ever and traps when it is refused
(module
  (memory (export "memory") 2)
  (table $t 1 funcref)
  (func (export "tool_call") (result i32)
    (loop $l (if (i32.eq (table.grow $t (ref.null func) (i32.const 1000)) (i32.const -1)) (then (unreachable))) (br $l))
    (i32.const 0)))
