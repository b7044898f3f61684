;; Its tool_call switches the model, of which it hears itself, and traps after that when the event has "trap" in it. It hooks input as well.
(module
  (import "extism:host/user" "weir_output_write" (func $output (param i32 i32)))
  (import "extism:host/user" "weir_input_read" (func $input (param i32 i32 i32) (result i32)))
  (import "extism:host/user" "weir_session" (func $session (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 1024) "{\22abi\22:1,\22name\22:\22reentrant\22,\22version\22:\221.0.0\22,\22hooks\22:{\22tool_call\22:{},\22model_select\22:{},\22input\22:{}}}")
  (data (i32.const 2048) "{}")
  (data (i32.const 3072) "{\22op\22:\22set_model\22,\22provider\22:\22p\22,\22id\22:\22m\22}")
  (func $nothing (result i32)
    (call $output (i32.const 2048) (i32.const 2)) (i32.const 0))
  (func (export "weir_describe") (result i32)
    (call $output (i32.const 1024) (i32.const 100)) (i32.const 0))
  (func (export "tool_call") (result i32)
    (local $n i32) (local $i i32)
    (drop (call $session (i32.const 3072) (i32.const 42)))
    (local.set $n (call $input (i32.const 8192) (i32.const 0) (i32.const 4096)))
    ;; "trap" anywhere in the event
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $i) (local.get $n)))
        (if (i32.eq (i32.load offset=8192 (local.get $i)) (i32.const 0x70617274)) (then (unreachable)))
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (br $next)))
    (call $nothing))
  (func (export "model_select") (result i32) (call $nothing))
  (func (export "input") (result i32) (call $nothing))
)
