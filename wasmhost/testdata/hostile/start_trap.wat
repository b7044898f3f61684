;; traps in start
(module
  (memory (export "memory") 2)
  (func $first (unreachable))
  (start $first)
  (func (export "tool_call") (result i32)
    (i32.const 0)))
