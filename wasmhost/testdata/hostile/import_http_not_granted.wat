;; imports Extism's HTTP, which is not granted
(module
  (import "extism:host/env" "http_request" (func (param i64 i64) (result i64)))
  (func (export "tool_call") (result i32) (i32.const 0)))
