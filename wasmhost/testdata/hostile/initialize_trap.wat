;; traps in initialize
(module
  (memory (export "memory") 2)
  (func $first (unreachable))
  (export "_initialize" (func $first))
  (func (export "tool_call") (result i32)
    (i32.const 0)))
