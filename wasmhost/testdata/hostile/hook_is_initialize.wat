;; its hook is _initialize
(module
  (func (export "_initialize") (export "tool_call") (result i32) (i32.const 0)))
