#!/usr/bin/env bash
# Builds the real nmstatectl from its crate, once. It makes keyfiles and does nothing else, so that it needs no libraries.
# Without cargo it is left out, and the test that compares with it skips and says so; with CI=true that is an error.
#   nmstatectl.sh COMMAND...     what runs ironflow-lab
set -euo pipefail
# As package test/lab/crate looks for it.
if [ -z "${IRONFLOW_NMSTATECTL:-}" ] && ! command -v cargo >/dev/null &&
  ! compgen -G "${IRONFLOW_CACHE:-$HOME/.cache/ironflow}/nmstatectl-*/bin/nmstatectl" >/dev/null; then
  next="install Rust (https://rustup.rs), or set IRONFLOW_NMSTATECTL to an nmstatectl, and run this again."
  if [ "${CI:-}" = true ]; then
    echo "ironflow: cargo is missing, with which the real nmstatectl is built; with CI=true nothing is skipped: $next" >&2
    exit 1
  fi
  echo "ironflow: cargo is missing: our networks are not compared with those of the real nmstatectl. To do that, $next"
  exit 0
fi
exec "$@" nmstatectl
