;; stores past the end of memory
(module
  (memory (export "memory") 2)
  (func (export "tool_call") (result i32)
    (i32.store8 (i32.const 131072) (i32.const 1))
    (i32.const 0)))
