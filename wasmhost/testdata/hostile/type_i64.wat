;; the hook has a 64-bit result
(module
  (memory (export "memory") 1)
  (func (export "tool_call") (result i64) (i64.const 0)))
