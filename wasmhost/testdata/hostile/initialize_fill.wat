;; fills memory for ever in initialize
(module
  (memory (export "memory") 2)
  (func $first (loop $l (memory.fill (i32.const 0) (i32.const 0) (i32.const 131072)) (br $l)))
  (export "_initialize" (func $first))
  (func (export "tool_call") (result i32)
    (i32.const 0)))
