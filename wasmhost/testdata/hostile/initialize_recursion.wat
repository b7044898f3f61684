;; recurses for ever in initialize
(module
  (memory (export "memory") 2)
  (func $r (call $r) (call $r))
  (func $first (call $r))
  (export "_initialize" (func $first))
  (func (export "tool_call") (result i32)
    (i32.const 0)))
