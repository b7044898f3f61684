;; imports from WASI's earlier version
(module
  (import "wasi_unstable" "fd_write" (func (param i32 i32 i32 i32) (result i32)))
  (func (export "tool_call") (result i32) (i32.const 0)))
