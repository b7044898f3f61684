;; Begins another session whenever a tool is called, by the capability session. A refusal is its error.
(module
  (import "extism:host/user" "weir_output_write" (func $output (param i32 i32)))
  (import "extism:host/user" "weir_error" (func $error (param i32 i32)))
  (import "extism:host/user" "weir_response_read" (func $response (param i32 i32 i32) (result i32)))
  (import "extism:host/user" "weir_session" (func $session (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 1024) "{\22abi\22:1,\22name\22:\22renew\22,\22version\22:\221.0.0\22,\22hooks\22:{\22tool_call\22:{}},\22capabilities\22:{\22session\22:\22control: to begin another\22}}")
  (func (export "weir_describe") (result i32)
    (call $output (i32.const 1024) (i32.const 122)) (i32.const 0))
  (data (i32.const 2048) "{}")
  (data (i32.const 3072) "{\22op\22:\22new\22}")
  (func (export "tool_call") (result i32)
    (if (i32.lt_s (call $session (i32.const 3072) (i32.const 12)) (i32.const 0))
      (then
        (call $error (i32.const 4096) (call $response (i32.const 4096) (i32.const 0) (i32.const 4096)))
        (return (i32.const 1))))
    (call $output (i32.const 2048) (i32.const 2)) (i32.const 0))
)
