#!/usr/bin/env bash
# Tests the IPA plugin against the real ironic-python-agent, the newest and the oldest that it works with, in
# environments of their own below .cache/.
set -euo pipefail
cd "$(dirname "$0")/../.."
python=$(bash test/scripts/prerequisites.sh find-python)

# environment FOLDER REQUIREMENTS: a virtual environment with that ironic-python-agent and pytest.
environment() {
  if [ -e "$1/ready" ] && cmp --silent "$1/ready" "$2"; then return; fi
  echo "installing $(grep --max-count=1 '^ironic-python-agent==' "$2" | cut -d' ' -f1) and pytest (usually 40s)"
  rm -rf "$1"
  "$python" -m venv "$1" &&
    "$1/bin/pip" install --quiet --require-hashes -r "$2" &&
    "$1/bin/pip" install --quiet pytest==8.4.2 &&
    cp "$2" "$1/ready"
}

run() { (cd customdeploy/ipa && PYTHONPATH=. "../../$1/bin/python" -m pytest -q tests); }

environment .cache/ipa-test test/lab/ipa/requirements.txt
run .cache/ipa-test
# Its dependencies are of its time: a newer Python may not be able to build them.
if environment .cache/ipa-oldest-test test/lab/ipa/requirements-oldest.txt; then
  run .cache/ipa-oldest-test
elif [ "${CI:-}" = true ]; then
  exit 1
else
  echo "skipped: the oldest ironic-python-agent cannot be installed with $("$python" --version); set IRONFLOW_PYTHON to a Python 3.11 or 3.12"
fi
