#!/usr/bin/env bash
# Makes the root file system that live and installed system are made from: packages alone, nothing of ours.
#   make.sh OUT
# OUT/root then holds it. Takes one to three minutes; needs root, mmdebstrap and the Debian mirror.
set -euo pipefail
out=$(realpath "${1:?usage: make.sh OUT}")
# What CoreOS has: systemd, NetworkManager, podman, and the programs for disks, firmware and time.
packages=systemd-sysv,libpam-systemd,libnss-systemd,dbus,udev,kmod,network-manager,iproute2,iputils-ping,ethtool,iptables
packages+=,podman,crun,runc,ca-certificates,chrony,sudo,passwd,openssh-client,curl,jq,less,procps
packages+=,lvm2,mdadm,multipath-tools,kpartx,open-iscsi,gdisk,fdisk,parted,dosfstools,e2fsprogs,xfsprogs,nvme-cli,smartmontools
packages+=,efibootmgr,dmidecode,pciutils,libzstd1
mmdebstrap --variant=minbase --include="$packages" \
  --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
  --dpkgopt='path-exclude=/usr/share/locale/*' --dpkgopt='path-exclude=/usr/share/i18n/*' \
  --quiet bookworm "$out/root"
