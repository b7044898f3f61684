;; Fills the kernel's table of blocks: "all" makes 131,072 blocks, "one_more" one more than that.
(module
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (func $make (param $n i32)
    (loop $next
      (drop (call $alloc (i64.const 1)))
      (br_if $next (local.tee $n (i32.sub (local.get $n) (i32.const 1))))))
  (func (export "all") (result i32) (call $make (i32.const 131072)) (i32.const 0))
  (func (export "one_more") (result i32) (call $make (i32.const 131073)) (i32.const 0)))
