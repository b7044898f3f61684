#!/usr/bin/env bash
# Builds weir-js.wasm, the QuickJS engine that runs JavaScript and TypeScript policies: build-engine.sh OUTDIR
#
# QuickJS comes compiled in an npm package; this links our glue into it. The same inputs give the same bytes anywhere.
# Needs clang-22, lld-22, wabt, node and npm.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

npm install --prefix "$work" --ignore-scripts --no-fund --no-audit --silent \
  binaryen@132.0.0 @jitl/quickjs-wasmfile-release-sync@0.32.0
quickjs=node_modules/@jitl/quickjs-wasmfile-release-sync
echo "105c3bed22d457e43e3d1c3c1c6959fda62a8fe06f0fc8a985303c3a2be72232  $quickjs/dist/emscripten-module.wasm" | sha256sum --check --quiet
features=(--enable-bulk-memory --enable-sign-ext --enable-nontrapping-float-to-int --enable-mutable-globals --enable-multivalue --enable-reference-types)

# QuickJS's memory starts with 16 MiB, of which it uses 5.1 for its stack and data.
wasm2wat --enable-all "$quickjs/dist/emscripten-module.wasm" | sed '0,/(memory (;0;) 256 32768)/s//(memory (;0;) 96 32768)/' > qjs.wat
grep -q '(memory (;0;) 96 32768)' qjs.wat
wat2wasm --enable-all qjs.wat -o qjs.wasm

hex=$(od -An -v -tx1 "$here/prelude.js" | tr -d ' \n' | sed 's/../\\\\&/g')
sed -e "s/SIZE/$(wc -c < "$here/prelude.js" | tr -d ' ')/g" "$here/slot.wat.in" > slot.sized
printf 's/"PRELUDE"/"%s"/\n' "$hex" > slot.sed
sed -f slot.sed slot.sized > slot.wat
wat2wasm slot.wat -o slot.wasm

# Everything of the glue lies below 1024, which emscripten leaves free: a stack of 320 bytes, then its data.
clang-22 --target=wasm32 -mcpu=mvp -mbulk-memory -Oz -nostdlib -fno-builtin -Wall -Werror -Wl,--no-entry -Wl,--stack-first \
  -Wl,-z,stack-size=320 -Wl,--export-memory=a -Wl,--initial-memory=6291456 -Wl,--max-memory=2147483648 -Wl,--strip-debug \
  -o glue.wasm "$here/glue.c"
end=$(wasm-objdump -x -j Data glue.wasm | sed -n 's/.* size=\([0-9]*\) - init i32=\([0-9]*\).*/\1 \2/p' | awk '{ e = $1 + $2; if (e > m) m = e } END { print m + 64 }')
[ "$end" -le 1024 ] || { echo "the glue's data ends at $end, past 1024" >&2; exit 1; }

node_modules/.bin/wasm-merge "${features[@]}" qjs.wasm qjs glue.wasm a slot.wasm slot -o merged.wasm

# Of what the three export among themselves only the ABI's entry points stay.
names=$(sed -n 's/^HOOK(/HOOK(/p' "$here/glue.c" | grep -o 'HOOK([0-9]*, "[a-z_]*")' | sed 's/.*"\(.*\)".*/\1/'; echo _initialize)
{
  printf '[{"name":"root","root":true,"reaches":["memory"'
  for n in $names; do printf ',"x_%s"' "$n"; done
  printf ']},{"name":"memory","export":"a"}'
  for n in $names; do printf ',{"name":"x_%s","export":"%s"}' "$n" "$n"; done
  printf ']'
} > roots.json
node_modules/.bin/wasm-metadce "${features[@]}" merged.wasm --graph-file roots.json -o small.wasm > /dev/null
node_modules/.bin/wasm-opt "${features[@]}" -O3 --strip-debug --strip-producers small.wasm -o "$out/weir-js.wasm"
