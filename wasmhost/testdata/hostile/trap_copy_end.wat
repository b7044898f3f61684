;; copies past the end of memory
(module
  (memory (export "memory") 2)
  (func (export "tool_call") (result i32)
    (memory.copy (i32.const 0) (i32.const 131000) (i32.const 1000))
    (i32.const 0)))
