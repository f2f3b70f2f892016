#!/usr/bin/env bash
# Installs the Debian packages behind the boot tests: QEMU with its HTTP block driver, and what makes their medium.
# Kernel, boot loaders and firmware are not installed: test/boot/guest/make.sh takes them out of their packages.
set -euo pipefail
exec bash "$(dirname "$0")/test-tools.sh" qemu-system-x86 qemu-system-arm qemu-block-extra mtools dosfstools grub-common squashfs-tools kmod mmdebstrap xorriso cpio zstd fdisk e2fsprogs binutils
