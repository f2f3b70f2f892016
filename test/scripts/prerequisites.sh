#!/usr/bin/env bash
# Says in one sentence what is missing before anything is built.
#   prerequisites.sh go            Go alone
#   prerequisites.sh python        Go and Python
#   prerequisites.sh find-python   print the Python that is used
#   prerequisites.sh cargo         Rust's cargo, unless there is a coreos-installer
#   prerequisites.sh root COMMAND  root, for that command
set -euo pipefail

fail() { echo "ironflow: $*" >&2; exit 1; }

check_go() {
  command -v go >/dev/null || fail "Go is missing: install Go 1.26 or newer (https://go.dev/doc/install) and run this again."
  local have
  have=$(go env GOVERSION | sed 's/^go//')
  [ "$(printf '1.26\n%s\n' "$have" | sort -V | head -n 1)" = 1.26 ] || fail "Go $have is too old: install Go 1.26 or newer and run this again."
}

find_python() {
  local p
  for p in ${IRONFLOW_PYTHON:-} python3 python3.14 python3.13 python3.12 python3.11; do
    if "$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      "$p" -c 'import venv, ensurepip' 2>/dev/null || fail "$p has no venv module: install it, e.g. 'apt-get install python3-venv', and run this again."
      echo "$p"
      return
    fi
  done
  fail "Python 3.11 or newer is missing: install python3 and python3-venv, or set IRONFLOW_PYTHON to one, and run this again."
}

check_root() {
  [ "$(id -u)" = 0 ] || fail "'$1' boots a real systemd, mounts and uses loop devices, for which it needs root: run it as root, e.g. 'sudo -E env PATH=\$PATH $1'. 'make test' and 'make demo' do not need root."
}

# As package test/lab/crate looks for it.
check_cargo() {
  [ -n "${COREOS_INSTALLER:-}" ] || command -v coreos-installer cargo >/dev/null ||
    compgen -G "${IRONFLOW_CACHE:-$HOME/.cache/ironflow}/coreos-installer-*/bin/coreos-installer" >/dev/null ||
    fail "cargo is missing, with which the end-to-end tests build the real coreos-installer: install Rust (https://rustup.rs), or set COREOS_INSTALLER to a coreos-installer, and run this again."
}

case ${1:?usage: prerequisites.sh go|python|find-python|cargo|root COMMAND} in
  go) check_go ;;
  python) check_go; find_python >/dev/null ;;
  find-python) find_python ;;
  cargo) check_cargo ;;
  root) check_root "${2:?which command}" ;;
  *) fail "prerequisites.sh does not know '$1'" ;;
esac
