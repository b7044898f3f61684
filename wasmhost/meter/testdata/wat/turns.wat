;; Loops without calls: with parameters and results, left in every way that a loop can be left.
(module
  ;; the sum of n ... 1
  (func (export "through") (param $n i32) (result i32)
    (i32.const 0)
    (local.get $n)
    (loop $l (param i32 i32) (result i32)
      (local.set $n)
      (i32.add (local.get $n))
      (local.tee $n (i32.sub (local.get $n) (i32.const 1)))
      (br_if $l (local.get $n))
      (drop)))
  (func (export "branch") (param $n i32) (result i32)
    (local $sum i32)
    (block $out (result i32)
      (loop $l
        (local.set $sum (i32.add (local.get $sum) (local.get $n)))
        (drop (br_if $out (local.get $sum) (i32.eqz (local.tee $n (i32.sub (local.get $n) (i32.const 1))))))
        (br $l))
      (unreachable)))
  (func (export "table") (param $n i32) (result i32)
    (local $sum i32)
    (block $out
      (block $other
        (loop $l
          (local.set $sum (i32.add (local.get $sum) (local.get $n)))
          (local.set $n (i32.sub (local.get $n) (i32.const 1)))
          (br_table $out $l (i32.ne (local.get $n) (i32.const 0)))))
      (return (i32.const -1)))
    (local.get $sum))
  (func (export "return") (param $n i32) (result i32)
    (local $sum i32)
    (loop $l
      (local.set $sum (i32.add (local.get $sum) (local.get $n)))
      (if (i32.eqz (local.tee $n (i32.sub (local.get $n) (i32.const 1))))
        (then (return (local.get $sum))))
      (br $l))
    (unreachable))
  (func $nothing)
  ;; the same in a function that is counted in depth, where a return is a branch
  (func (export "counted") (param $n i32) (result i32)
    (local $sum i32)
    (call $nothing)
    (loop $l
      (local.set $sum (i32.add (local.get $sum) (local.get $n)))
      (if (i32.eqz (local.tee $n (i32.sub (local.get $n) (i32.const 1))))
        (then (return (local.get $sum))))
      (br $l))
    (unreachable)))
