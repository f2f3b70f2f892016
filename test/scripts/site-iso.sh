#!/usr/bin/env bash
# Takes a live ISO of CoreOS, as a site has it, through the whole flow on one virtual machine: BMC address, registration, inspection by the real
# ironic-python-agent, cleaning, installation by the agent with the ISO's own coreos-installer and image, and the first boot from the disk.
# Nothing of a site is touched. Nobody has run it on a real CoreOS ISO yet (docs/real-machine.md).
#   site-iso.sh ISO IPA_IMAGE     as root, in the source tree
# IPA_IMAGE is what `make images IMAGES=ironic-python-agent` makes, pushed to a registry that listens on this computer under any of its
# addresses; it is pulled without TLS verification. Ends with the test's verdict and the folder of the report; what a failure leaves (consoles,
# journal, a picture of the screen) is there, too.
set -euo pipefail
iso=$(realpath "${1:?usage: site-iso.sh ISO IPA_IMAGE}")
image=${2:?usage: site-iso.sh ISO IPA_IMAGE}
cd "$(dirname "$0")/../.."
export IRONFLOW_MACHINE_LOGS=${IRONFLOW_MACHINE_LOGS:-/var/tmp/ironflow-machine}
make --no-print-directory lab-programs machine-programs
echo "what we find in the medium:"
bin/ironflow image inspect "$iso"
bin/ironflow-lab prepare
mkdir -p "$IRONFLOW_MACHINE_LOGS"
CGO_ENABLED=0 GOFLAGS=-trimpath IRONFLOW_BIN=$PWD/bin IRONFLOW_LIVE_ISO=$iso IRONFLOW_IPA_IMAGE=$image \
  go test -count=1 -v -vet=off -timeout 120m -tags machine -run '^TestInstalled$' ./test/vm/flows
