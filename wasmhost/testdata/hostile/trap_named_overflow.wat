;; traps in a function named like what the engine says of an overflow
(module
  (memory (export "memory") 2)
  (func $stack_overflow (export "stack overflow (recovered by wazero)") (unreachable))
  (func (export "tool_call") (result i32)
    (call $stack_overflow)
    (i32.const 0)))
