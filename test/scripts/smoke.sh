#!/usr/bin/env bash
# The end-to-end cases marked as smoke: one way through each real part that `make test` leaves out. Each line names a package and its cases.
set -euo pipefail
smoke=(
  './test/steps TestOnRealSystemd/^(installed|marker_of_an_earlier_boot|cancelled_while_it_waits|confirm_after_a_reboot_in_mid_step)$'
  './test/machine/realipa TestContract'
)
for line in "${smoke[@]}"; do
  read -r package cases <<<"$line"
  "$@" -p 1 -timeout 20m -tags e2e -run "$cases" "$package"
done
