;; executes unreachable
(module
  (memory (export "memory") 2)
  (func (export "tool_call") (result i32)
    (unreachable)
    (i32.const 0)))
