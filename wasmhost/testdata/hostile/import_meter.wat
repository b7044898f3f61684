;; imports the meter
(module
  (import "weir:meter" "refill" (func (result i64)))
  (func (export "tool_call") (result i32) (i32.const 0)))
