#!/usr/bin/env bash
# Writes the CRDs and RBAC rules: metal3's kinds from its apis module, our own from api/.
set -euo pipefail
gen=${1:?usage: manifests.sh CONTROLLER-GEN}
out=$PWD/config/crd

# One folder per owner of the kinds, each with its list, so that a site can leave out what it has already.
kinds() { # kinds FOLDER GENERATOR-ARGUMENT...
  local dir=$out/$1
  shift
  mkdir -p "$dir"
  rm -f "$dir"/*.yaml
  "$gen" "$@" output:crd:dir="$dir"
  { echo "resources:"; (cd "$dir" && ls -- *.yaml) | sed 's/^/  - /'; } > "$dir/kustomization.yaml.new"
  mv "$dir/kustomization.yaml.new" "$dir/kustomization.yaml"
}

# HardwareData holds a float (the CPU clock), hence allowDangerousTypes.
metal3=$(go list -m -f '{{.Dir}}' github.com/metal3-io/baremetal-operator/apis)
(cd "$metal3" && GOFLAGS=-mod=mod kinds metal3 crd:allowDangerousTypes=true paths=./metal3.io/v1alpha1/...)
# Fast inspection comes with the next version of the API, and Ironflow has it: the schema takes it.
sed -i '/^ *inspectionMode:$/,/^ *type: string$/ {
  s/^\( *\)- agent$/&\n\1- fast/
  s/^\( *\)"agent" - normal agent-based inspection will run$/&\n\1"fast" - the BMC is asked, without booting the machine/
}' "$out/metal3/metal3.io_baremetalhosts.yaml"
# `clusterctl move` looks for definitions with the first label, and takes all hosts of a namespace along, with what they own, by the second: nothing
# of Cluster API owns a host that is available.
label='    clusterctl.cluster.x-k8s.io'
for kind in baremetalhosts dataimages hardwaredata hostfirmwarecomponents hostfirmwaresettings; do
  labels="$label: \"\""
  if [ $kind = baremetalhosts ]; then labels="$labels\\n$label/move-hierarchy: \"\""; fi
  sed -i "s|^  name: $kind.metal3.io\$|  labels:\\n$labels\\n&|" "$out/metal3/metal3.io_$kind.yaml"
done
kinds agent-install crd paths=./api/agentinstall/...
kinds ironflow crd paths=./api/ironflow/...
kinds hive crd paths=./api/hive/... paths=./api/hiveext/...
"$gen" rbac:roleName=ironflow-controllers paths=./controllers/... output:rbac:dir=config/rbac
