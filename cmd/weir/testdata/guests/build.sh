#!/bin/sh
# Rebuilds the guests of the CLI's tests from their source (wabt).
set -eu
cd "$(dirname "$0")"
for f in *.wat; do wat2wasm "$f" -o "${1:-.}/${f%.wat}.wasm"; done
