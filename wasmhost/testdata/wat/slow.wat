;; Starts slowly: _initialize runs for some milliseconds, then counts the starts in a variable of the guest. The hook
;; gives the state of its instance, or traps when the input is not empty.
(module
  (import "extism:host/user" "weir_input_read" (func $input (param i32 i32 i32) (result i32)))
  (import "extism:host/user" "weir_output_write" (func $output (param i32 i32)))
  (import "extism:host/user" "weir_log" (func $log (param i32 i32 i32)))
  (memory (export "memory") 1)
  (data (i32.const 64) "started")
  (func (export "_initialize")
    (local $n i32)
    (local.set $n (i32.const 5000000))
    (loop $l (br_if $l (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (call $log (i32.const 1) (i32.const 64) (i32.const 7)))
  (func (export "call") (result i32)
    (if (call $input (i32.const 0) (i32.const 0) (i32.const 0)) (then (unreachable)))
    (i32.store (i32.const 0) (i32.add (i32.load (i32.const 0)) (i32.const 1)))
    (call $output (i32.const 0) (i32.const 4))
    (i32.const 0)))
