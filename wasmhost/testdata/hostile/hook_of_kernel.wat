;; its hook is a function of the kernel
(module
  (import "extism:host/env" "get_log_level" (func $level (result i32)))
  (export "tool_call" (func $level)))
