;; imports from a module that does not exist
(module
  (import "env" "abort" (func (param i32 i32 i32 i32)))
  (func (export "tool_call") (result i32) (i32.const 0)))
