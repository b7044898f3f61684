;; the hook calls itself
(module
  (func $hook (export "tool_call") (result i32) (i32.add (call $hook) (call $hook))))
