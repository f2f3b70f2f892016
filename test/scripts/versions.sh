#!/usr/bin/env bash
# Runs what another release of Kubernetes or Ironic can break: for KUBERNETES, every package whose tests start a
# kube-apiserver; for IRONIC, the lab's own test, the contract of the gateway, the life of hosts, and a whole flow of two
# hosts, which runs on both if both are set.
#   KUBERNETES=1.30.14 IRONIC=24.0.0 IRONFLOW_BIN=DIR versions.sh COMMAND...     what runs gotestsum
set -euo pipefail
cd "$(dirname "$0")/../.."
if [ -n "${KUBERNETES:-}" ]; then
  unset KUBEBUILDER_ASSETS
  export IRONFLOW_LAB_KUBERNETES=$KUBERNETES
fi
[ -z "${IRONIC:-}" ] || export IRONFLOW_LAB_IRONIC=$IRONIC
"$IRONFLOW_BIN/ironflow-lab" prepare

if [ -n "${KUBERNETES:-}" ]; then
  # Tests with a build tag are of other targets.
  mapfile -t files < <(grep -rlE 'labtest\.ControlPlane|StartControlPlane|lab\.Assets' --include='*_test.go' . | xargs grep -L '^//go:build')
  mapfile -t packages < <(dirname "${files[@]}" | sort -u)
  "$@" -p 2 -vet=off -count 1 -timeout 40m "${packages[@]}"
fi
if [ -n "${IRONIC:-}" ]; then
  "$@" -p 1 -vet=off -count 1 -timeout 40m -tags e2e -run '^(TestIronic|TestAccessToTheRealIronic|TestNoAuthentication|TestOnTheRealIronic)$' \
    ./test/lab ./test/ironic/contract ./ironic ./controllers/host
  "$IRONFLOW_BIN/ironflow-lab" demo --hosts 2 --once
fi
