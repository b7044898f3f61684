;; there is no hook
(module
  (memory (export "memory") 1)
  (func (export "tool_cal1") (result i32) (i32.const 0)))
