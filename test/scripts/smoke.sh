#!/usr/bin/env bash
# The end-to-end cases marked as smoke: one way through each real part that `make test` leaves out. Each line names a package, a test and its cases
# (none: all of them). A case that was not run, or skipped, is a failure: a renamed one must not look like a pass.
#   smoke.sh COMMAND...     what runs gotestsum
set -euo pipefail
smoke=(
  './test/steps TestOnRealSystemd installed marker_of_an_earlier_boot cancelled_while_it_waits confirm_after_a_reboot_in_mid_step'
  './test/steps TestInstallCoreOS'
  './imagecustomization/network TestNmstatectlMakesTheSame'
  './test/installer TestDeployStepInstallsADisk'
  './test/installer TestAFullDiskIsTheReason'
  './test/machine/realipa TestContract'
  './test/joint TestJoint'
  './test/converged TestThreeHostsBecomeACluster'
  './test/demo TestASiteIsWorkedOnFromASecondTerminal'
  './test/hub/e2e TestThreeHosts'
  './test/hub/e2e TestTheHubIsKilled'
  './test/boot TestBoot BIOS,_ranges,_bridge_with_DHCP_and_routing_rules'
)
results=$(mktemp)
trap 'rm -f "$results"' EXIT
for line in "${smoke[@]}"; do
  read -r -a words <<<"$line"
  package=${words[0]} test=${words[1]} cases=("${words[@]:2}")
  run="^$test\$"
  [ ${#cases[@]} -eq 0 ] || run+="/^($(IFS='|'; echo "${cases[*]}"))\$"
  GOTESTSUM_JSONFILE=$results "$@" -p 1 -timeout 20m -tags e2e -run "$run" "$package"
  for name in "$test" ${cases[@]/#/$test/}; do
    grep -q "\"Action\":\"pass\".*\"Test\":\"$name\"" "$results" || { echo "smoke: $package $name did not run: it was skipped, or is named otherwise now" >&2; exit 1; }
  done
done
