;; uses tail calls, which are not enabled
(module
  (func $f (export "tool_call") (result i32) (return_call $f)))
