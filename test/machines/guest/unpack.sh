#!/usr/bin/env bash
# Turns what a guest wrote into a recording.
#   unpack.sh BUNDLE OUT
set -euo pipefail
bundle=$(realpath "$1") out=$(realpath -m "$2")
cd "$(dirname "$0")/../record" && CGO_ENABLED=0 go run . --unpack "$bundle" "$out"
