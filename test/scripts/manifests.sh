#!/usr/bin/env bash
# Writes the CRDs and RBAC rules: metal3's kinds from its apis module, our own from api/.
set -euo pipefail
gen=${1:?usage: manifests.sh CONTROLLER-GEN}
out=config/crd/bases

mkdir -p "$out/metal3" "$out/ironflow"
rm -f "$out"/metal3/*.yaml "$out"/ironflow/*.yaml
# HardwareData holds a float (the CPU clock), hence allowDangerousTypes.
metal3=$(go list -m -f '{{.Dir}}' github.com/metal3-io/baremetal-operator/apis)
(cd "$metal3" && GOFLAGS=-mod=mod "$gen" crd:allowDangerousTypes=true paths=./metal3.io/v1alpha1/... output:crd:dir="$OLDPWD/$out/metal3")
"$gen" crd paths=./api/... output:crd:dir="$out/ironflow"
"$gen" rbac:roleName=ironflow-controllers paths=./controllers/... output:rbac:dir=config/rbac
