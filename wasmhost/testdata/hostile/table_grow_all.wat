;; grows a table by 2^32-1 and traps when it is refused
(module
  (memory (export "memory") 2)
  (table $t 1 funcref)
  (func (export "tool_call") (result i32)
    (if (i32.eq (table.grow $t (ref.null func) (i32.const -1)) (i32.const -1)) (then (unreachable)))
    (i32.const 0)))
