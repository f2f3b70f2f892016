#!/usr/bin/env bash
# Tests the IPA plugin against the real ironic-python-agent, in an environment of its own below .cache/.
set -euo pipefail
cd "$(dirname "$0")/../.."
venv=.cache/ipa-test
python=$(bash test/scripts/prerequisites.sh find-python)
if [ ! -e "$venv/ready" ]; then
  echo "installing ironic-python-agent and pytest (usually 40s)"
  rm -rf "$venv"
  "$python" -m venv "$venv"
  "$venv/bin/pip" install --quiet --require-hashes -r test/lab/ipa/requirements.txt
  "$venv/bin/pip" install --quiet pytest==8.4.2
  touch "$venv/ready"
fi
cd customdeploy/ipa
PYTHONPATH=. "../../$venv/bin/python" -m pytest -q tests
