#!/usr/bin/env bash
# Installs the Debian packages behind the machines of test/vm: QEMU with its HTTP block driver, firmware for UEFI, BIOS and network boot, a TPM, the
# DHCP and DNS server of their network, and an iSCSI target; and those of the boot tests, which make media.
set -euo pipefail
here=$(dirname "$0")
bash "$here/boot-tools.sh"
exec bash "$here/test-tools.sh" qemu-system-x86 qemu-block-extra seabios ovmf ipxe-qemu swtpm dnsmasq-base tgt docker-registry buildah fdisk e2fsprogs
