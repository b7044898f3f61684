;; grows a table by 16 Mi references and traps when it is refused
(module
  (memory (export "memory") 2)
  (table $t 1 externref)
  (func (export "tool_call") (result i32)
    (loop $l (if (i32.eq (table.grow $t (ref.null extern) (i32.const 16777216)) (i32.const -1)) (then (unreachable))) (br $l))
    (i32.const 0)))
