#!/usr/bin/env bash
# Says in one sentence what is missing before anything is built.
set -euo pipefail

fail() { echo "ironflow: $*" >&2; exit 1; }

command -v go >/dev/null || fail "Go is missing: install Go 1.26 or newer (https://go.dev/doc/install) and run this again."
have=$(go env GOVERSION | sed 's/^go//')
[ "$(printf '1.26\n%s\n' "$have" | sort -V | head -n 1)" = 1.26 ] || fail "Go $have is too old: install Go 1.26 or newer and run this again."
command -v python3 >/dev/null || fail "Python is missing: install python3 (3.10 or newer) with its venv module, e.g. 'apt-get install python3-venv', and run this again."
python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' || fail "$(python3 --version) is too old: Ironic needs Python 3.10 or newer."
python3 -c 'import venv, ensurepip' 2>/dev/null || fail "Python's venv module is missing: install it, e.g. 'apt-get install python3-venv', and run this again."
