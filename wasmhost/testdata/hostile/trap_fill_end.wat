;; fills past the end of memory
(module
  (memory (export "memory") 2)
  (func (export "tool_call") (result i32)
    (memory.fill (i32.const 131071) (i32.const 1) (i32.const 2))
    (i32.const 0)))
