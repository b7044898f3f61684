;; imports the other function of the meter
(module
  (import "weir:meter" "overflow" (func))
  (func (export "tool_call") (result i32) (i32.const 0)))
