;; recurses for ever in start
(module
  (memory (export "memory") 2)
  (func $r (call $r) (call $r))
  (func $first (call $r))
  (start $first)
  (func (export "tool_call") (result i32)
    (i32.const 0)))
