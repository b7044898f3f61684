;; The Extism kernel of one guest: the memory that guest and host exchange data through.
;;
;; Layout: [0, 1 MiB) a table of blocks, 8 bytes each (offset u32, length u32; bit 31 of the length marks a freed
;; block), sorted by offset; from 1 MiB on the blocks themselves. The functions that a guest can reach read and write
;; only at or above $base and below $top, so the table is out of its reach, and `reset` clears what a call used.
;; Imports that end in "copy" make the host write into this memory at the address given.
(module
  (import "weir:env" "input_size" (func $input_size (result i64)))
  (import "weir:env" "input_copy" (func $input_copy (param i32)))
  (import "weir:env" "staged_copy" (func $staged_copy (param i32)))
  (import "weir:env" "config_get" (func $host_config_get (param i32 i32) (result i64)))
  (import "weir:env" "var_get" (func $host_var_get (param i32 i32) (result i64)))
  (import "weir:env" "var_set" (func $host_var_set (param i32 i32 i32 i32)))
  (import "weir:env" "var_delete" (func $host_var_delete (param i32 i32)))
  (import "weir:env" "log" (func $host_log (param i32 i32 i32)))
  (import "weir:env" "log_level" (func $host_log_level (result i32)))
  (import "weir:env" "http_request" (func $host_http_request (param i32 i32 i32 i32) (result i64)))
  (import "weir:env" "http_status" (func $host_http_status (result i32)))
  (import "weir:env" "http_headers" (func $host_http_headers (result i64)))
  ;; 1 offset outside the blocks, 2 range that is not one block's, 3 too many blocks, 4 no memory. Does not return.
  (import "weir:env" "fault" (func $fault (param i32)))

  (memory (export "memory") 17)
  (global $base i32 (i32.const 1048576))
  (global $top (mut i32) (i32.const 1048576))
  (global $high (mut i32) (i32.const 1048576))
  (global $blocks (mut i32) (i32.const 0))
  (global $freed (mut i32) (i32.const 0))          ;; how many of them are
  (global $input (mut i32) (i32.const 0))          ;; 0 until the input was loaded
  (global $input_len (mut i32) (i32.const 0))
  (global $loaded (mut i32) (i32.const 0))
  (global $output (mut i32) (i32.const 0))
  (global $output_len (mut i32) (i32.const 0))
  (global $output_state (mut i32) (i32.const 0))   ;; 1 once output_set was called
  (global $error (mut i32) (i32.const 0))
  (global $error_len (mut i32) (i32.const 0))
  (export "weir_output" (global $output))
  (export "weir_output_len" (global $output_len))
  (export "weir_output_state" (global $output_state))
  (export "weir_error" (global $error))
  (export "weir_error_len" (global $error_len))

  ;; Forgets the call before: called by the host before each call.
  (func (export "weir_reset")
    (if (i32.gt_u (global.get $high) (global.get $base))
      (then
        (memory.fill (global.get $base) (i32.const 0) (i32.sub (global.get $high) (global.get $base)))
        (global.set $top (global.get $base))
        (global.set $high (global.get $base))
        (global.set $blocks (i32.const 0))
        (global.set $freed (i32.const 0))))
    (global.set $input (i32.const 0))
    (global.set $input_len (i32.const 0))
    (global.set $loaded (i32.const 0))
    (global.set $output (i32.const 0))
    (global.set $output_len (i32.const 0))
    (global.set $output_state (i32.const 0))
    (global.set $error (i32.const 0))
    (global.set $error_len (i32.const 0)))

  ;; Index of the last block that starts at or below $o, -1 when there is none.
  (func $lower (param $o i64) (result i32)
    (local $lo i32) (local $hi i32) (local $mid i32)
    (local.set $hi (global.get $blocks))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $lo) (local.get $hi)))
        (local.set $mid (i32.shr_u (i32.add (local.get $lo) (local.get $hi)) (i32.const 1)))
        (if (i64.le_u (i64.load32_u (i32.shl (local.get $mid) (i32.const 3))) (local.get $o))
          (then (local.set $lo (i32.add (local.get $mid) (i32.const 1))))
          (else (local.set $hi (local.get $mid))))
        (br $next)))
    (i32.sub (local.get $lo) (i32.const 1)))

  ;; Length of the live block that starts exactly at $o, 0 when there is none.
  (func $length (export "length") (param $o i64) (result i64)
    (local $i i32) (local $n i32)
    (local.set $i (call $lower (local.get $o)))
    (if (i32.lt_s (local.get $i) (i32.const 0)) (then (return (i64.const 0))))
    (local.set $i (i32.shl (local.get $i) (i32.const 3)))
    (if (i64.ne (i64.load32_u (local.get $i)) (local.get $o)) (then (return (i64.const 0))))
    (local.set $n (i32.load offset=4 (local.get $i)))
    (if (i32.lt_s (local.get $n) (i32.const 0)) (then (return (i64.const 0))))
    (i64.extend_i32_u (local.get $n)))
  (func (export "length_unsafe") (param $o i64) (result i64) (call $length (local.get $o)))

  ;; A freed block of room for $n among the last 32, 0 when there is none. The last block is never a freed one. What stood in it is
  ;; left in it, as Extism does.
  (func $reuse (param $n i32) (result i32)
    (local $i i32) (local $stop i32) (local $next i32) (local $at i32)
    (local.set $i (i32.shl (i32.sub (global.get $blocks) (i32.const 1)) (i32.const 3)))
    (local.set $stop (select (i32.sub (local.get $i) (i32.const 256)) (i32.const 0) (i32.gt_u (local.get $i) (i32.const 256))))
    (local.set $next (i32.load (local.get $i)))
    (block $none
      (loop $down
        (br_if $none (i32.le_u (local.get $i) (local.get $stop)))
        (local.set $i (i32.sub (local.get $i) (i32.const 8)))
        (local.set $at (i32.load (local.get $i)))
        (if (i32.and
              (i32.lt_s (i32.load offset=4 (local.get $i)) (i32.const 0))
              (i32.ge_u (i32.sub (local.get $next) (local.get $at)) (local.get $n)))
          (then
            (i32.store offset=4 (local.get $i) (local.get $n))
            (global.set $freed (i32.sub (global.get $freed) (i32.const 1)))
            (return (local.get $at))))
        (local.set $next (local.get $at))
        (br $down)))
    (i32.const 0))

  (func $alloc (export "alloc") (param $n i64) (result i64)
    (local $at i32) (local $end i64) (local $have i64)
    (if (i64.eqz (local.get $n)) (then (return (i64.const 0))))
    (if (i64.gt_u (local.get $n) (i64.const 0x7ffffff0)) (then (call $fault (i32.const 4)) (unreachable)))
    (if (global.get $freed) (then
      (local.set $at (call $reuse (i32.wrap_i64 (local.get $n))))
      (if (local.get $at) (then (return (i64.extend_i32_u (local.get $at)))))))
    (if (i32.ge_u (global.get $blocks) (i32.const 131072)) (then (call $fault (i32.const 3)) (unreachable)))
    (local.set $at (global.get $top))
    (local.set $end (i64.and
      (i64.add (i64.add (i64.extend_i32_u (local.get $at)) (local.get $n)) (i64.const 7))
      (i64.const -8)))
    (local.set $have (i64.shl (i64.extend_i32_u (memory.size)) (i64.const 16)))
    (if (i64.gt_u (local.get $end) (i64.const 0xffff0000)) (then (call $fault (i32.const 4)) (unreachable)))
    (if (i64.gt_u (local.get $end) (local.get $have))
      (then
        (if (i32.eq (i32.const -1) (memory.grow (i32.wrap_i64 (i64.shr_u
              (i64.add (i64.sub (local.get $end) (local.get $have)) (i64.const 65535)) (i64.const 16)))))
          (then (call $fault (i32.const 4)) (unreachable)))))
    (i32.store (i32.shl (global.get $blocks) (i32.const 3)) (local.get $at))
    (i32.store offset=4 (i32.shl (global.get $blocks) (i32.const 3)) (i32.wrap_i64 (local.get $n)))
    (global.set $blocks (i32.add (global.get $blocks) (i32.const 1)))
    (global.set $top (i32.wrap_i64 (local.get $end)))
    (if (i32.gt_u (global.get $top) (global.get $high)) (then (global.set $high (global.get $top))))
    (i64.extend_i32_u (local.get $at)))

  ;; Marks the block that starts at $o as freed; gives its space back when nothing live stands above it, else alloc may. Input and
  ;; output may be freed too: what they named is then no block any more.
  (func $free (export "free") (param $o i64)
    (local $i i32)
    (if (i64.eqz (call $length (local.get $o))) (then (return)))
    (local.set $i (i32.shl (call $lower (local.get $o)) (i32.const 3)))
    (i32.store offset=4 (local.get $i) (i32.or (i32.const 0x80000000) (i32.load offset=4 (local.get $i))))
    (global.set $freed (i32.add (global.get $freed) (i32.const 1)))
    (block $done
      (loop $pop
        (br_if $done (i32.eqz (global.get $blocks)))
        (local.set $i (i32.shl (i32.sub (global.get $blocks) (i32.const 1)) (i32.const 3)))
        (br_if $done (i32.ge_s (i32.load offset=4 (local.get $i)) (i32.const 0)))
        (global.set $top (i32.load (local.get $i)))
        (global.set $blocks (i32.sub (global.get $blocks) (i32.const 1)))
        (global.set $freed (i32.sub (global.get $freed) (i32.const 1)))
        (br $pop))))

  ;; Checks that [$o, $o+$n) lies among the blocks and gives the address.
  (func $at (param $o i64) (param $n i64) (result i32)
    (local $size i64)
    (local.set $o (i64.sub (local.get $o) (i64.extend_i32_u (global.get $base))))
    (local.set $size (i64.extend_i32_u (i32.sub (global.get $top) (global.get $base))))
    (if (i64.ge_u (local.get $o) (local.get $size)) (then (call $fault (i32.const 1)) (unreachable)))
    (if (i64.lt_u (i64.sub (local.get $size) (local.get $o)) (local.get $n)) (then (call $fault (i32.const 1)) (unreachable)))
    (i32.add (i32.wrap_i64 (local.get $o)) (global.get $base)))

  (func (export "load_u8") (param $o i64) (result i32) (i32.load8_u (call $at (local.get $o) (i64.const 1))))
  (func (export "load_u64") (param $o i64) (result i64) (i64.load (call $at (local.get $o) (i64.const 8))))
  (func (export "store_u8") (param $o i64) (param $v i32) (i32.store8 (call $at (local.get $o) (i64.const 1)) (local.get $v)))
  (func (export "store_u64") (param $o i64) (param $v i64) (i64.store (call $at (local.get $o) (i64.const 8)) (local.get $v)))

  ;; The input enters when the guest first asks for it.
  (func $load
    (local $n i64)
    (global.set $loaded (i32.const 1))
    (local.set $n (call $input_size))
    (global.set $input (i32.wrap_i64 (call $alloc (local.get $n))))
    (global.set $input_len (i32.wrap_i64 (local.get $n)))
    (if (global.get $input) (then (call $input_copy (global.get $input)))))
  (func (export "input_length") (result i64)
    (if (i32.eqz (global.get $loaded)) (then (call $load)))
    (i64.extend_i32_u (global.get $input_len)))
  (func (export "input_offset") (result i64)
    (if (i32.eqz (global.get $loaded)) (then (call $load)))
    (i64.extend_i32_u (global.get $input)))
  ;; Past the input both read 0, as Extism defines them.
  (func (export "input_load_u8") (param $o i64) (result i32)
    (if (i32.eqz (global.get $loaded)) (then (call $load)))
    (if (i64.ge_u (local.get $o) (i64.extend_i32_u (global.get $input_len))) (then (return (i32.const 0))))
    (i32.load8_u (i32.add (global.get $input) (i32.wrap_i64 (local.get $o)))))
  (func (export "input_load_u64") (param $o i64) (result i64)
    (if (i32.eqz (global.get $loaded)) (then (call $load)))
    (if (i64.ge_u (local.get $o) (i64.extend_i32_u (global.get $input_len))) (then (return (i64.const 0))))
    (if (i64.lt_u (i64.sub (i64.extend_i32_u (global.get $input_len)) (local.get $o)) (i64.const 8)) (then (return (i64.const 0))))
    (i64.load (i32.add (global.get $input) (i32.wrap_i64 (local.get $o)))))

  ;; Checks that [$o, $o+$n) lies inside one live block.
  (func $inside (param $o i64) (param $n i64)
    (local $i i32) (local $len i32)
    (local.set $i (call $lower (local.get $o)))
    (if (i32.lt_s (local.get $i) (i32.const 0)) (then (call $fault (i32.const 2)) (unreachable)))
    (local.set $i (i32.shl (local.get $i) (i32.const 3)))
    (local.set $len (i32.load offset=4 (local.get $i)))
    (if (i32.lt_s (local.get $len) (i32.const 0)) (then (call $fault (i32.const 2)) (unreachable)))
    ;; $o - start is below 4 GiB, since a block is never below start.
    (local.set $o (i64.sub (local.get $o) (i64.load32_u (local.get $i))))
    (if (i64.gt_u (local.get $o) (i64.extend_i32_u (local.get $len))) (then (call $fault (i32.const 2)) (unreachable)))
    (if (i64.gt_u (local.get $n) (i64.sub (i64.extend_i32_u (local.get $len)) (local.get $o)))
      (then (call $fault (i32.const 2)) (unreachable))))

  (func (export "output_set") (param $o i64) (param $n i64)
    (if (i64.eqz (local.get $n))
      (then (global.set $output (i32.const 0)))
      (else
        (call $inside (local.get $o) (local.get $n))
        (global.set $output (i32.wrap_i64 (local.get $o)))))
    (global.set $output_len (i32.wrap_i64 (local.get $n)))
    (global.set $output_state (i32.const 1)))

  ;; An error once set stays: there is no way to wipe it.
  (func (export "error_set") (param $o i64)
    (local $n i64)
    (if (i64.eqz (local.get $o)) (then (return)))
    (local.set $n (call $length (local.get $o)))
    (if (i64.eqz (local.get $n)) (then (call $fault (i32.const 2)) (unreachable)))
    (global.set $error (i32.wrap_i64 (local.get $o)))
    (global.set $error_len (i32.wrap_i64 (local.get $n))))

  ;; Length of the block at $o as an i32; a fault when it is none. An offset of 0 is an empty text.
  (func $text (param $o i64) (result i32)
    (local $n i64)
    (if (i64.eqz (local.get $o)) (then (return (i32.const 0))))
    (local.set $n (call $length (local.get $o)))
    (if (i64.eqz (local.get $n)) (then (call $fault (i32.const 2)) (unreachable)))
    (i32.wrap_i64 (local.get $n)))

  ;; A block with what the host has staged; 0 for none (-1) and for nothing (0 bytes).
  (func $staged (param $n i64) (result i64)
    (local $at i64)
    (if (i64.le_s (local.get $n) (i64.const 0)) (then (return (i64.const 0))))
    (local.set $at (call $alloc (local.get $n)))
    (call $staged_copy (i32.wrap_i64 (local.get $at)))
    (local.get $at))

  (func (export "config_get") (param $k i64) (result i64)
    (call $staged (call $host_config_get (i32.wrap_i64 (local.get $k)) (call $text (local.get $k)))))
  (func (export "var_get") (param $k i64) (result i64)
    (call $staged (call $host_var_get (i32.wrap_i64 (local.get $k)) (call $text (local.get $k)))))
  (func (export "var_set") (param $k i64) (param $v i64)
    (if (i64.eqz (local.get $v))
      (then (call $host_var_delete (i32.wrap_i64 (local.get $k)) (call $text (local.get $k))))
      (else (call $host_var_set (i32.wrap_i64 (local.get $k)) (call $text (local.get $k))
        (i32.wrap_i64 (local.get $v)) (call $text (local.get $v))))))

  ;; Below the level that get_log_level gives, so it is dropped.
  (func (export "log_trace") (param $o i64) (drop (call $text (local.get $o))))
  (func (export "log_debug") (param $o i64) (call $host_log (i32.const 0) (i32.wrap_i64 (local.get $o)) (call $text (local.get $o))))
  (func (export "log_info") (param $o i64) (call $host_log (i32.const 1) (i32.wrap_i64 (local.get $o)) (call $text (local.get $o))))
  (func (export "log_warn") (param $o i64) (call $host_log (i32.const 2) (i32.wrap_i64 (local.get $o)) (call $text (local.get $o))))
  (func (export "log_error") (param $o i64) (call $host_log (i32.const 3) (i32.wrap_i64 (local.get $o)) (call $text (local.get $o))))
  (func (export "get_log_level") (result i32) (call $host_log_level))

  (func (export "http_request") (param $r i64) (param $b i64) (result i64)
    (call $staged (call $host_http_request (i32.wrap_i64 (local.get $r)) (call $text (local.get $r))
      (i32.wrap_i64 (local.get $b)) (call $text (local.get $b)))))
  (func (export "http_status_code") (result i32) (call $host_http_status))
  (func (export "http_headers") (result i64) (call $staged (call $host_http_headers)))
)
