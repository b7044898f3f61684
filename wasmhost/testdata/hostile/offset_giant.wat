;; reads its input and settings from giant offsets
(module
  (import "extism:host/user" "weir_input_read" (func $weir_input_read (param i32 i32 i32) (result i32)))
  (import "extism:host/user" "weir_output_write" (func $weir_output_write (param i32 i32)))
  (import "extism:host/user" "weir_config_read" (func $weir_config_read (param i32 i32 i32) (result i32)))
  (memory (export "memory") 2)
  (data (i32.const 8) "{\22block\22:false}")
  (func (export "tool_call") (result i32)
    (drop (call $weir_input_read (i32.const 64) (i32.const -1) (i32.const 8)))
    (drop (call $weir_config_read (i32.const 64) (i32.const 0x80000000) (i32.const 8)))
    (if (i64.ne (i64.load (i32.const 64)) (i64.const 0)) (then (unreachable)))
    (call $weir_output_write (i32.const 8) (i32.const 15))
    (i32.const 0)))
