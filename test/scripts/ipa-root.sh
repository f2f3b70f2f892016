#!/usr/bin/env bash
# Makes the root file system of ironic-python-agent's image out of Debian's archive and PyPI. No other image is needed, and no registry.
#   ipa-root.sh ARCH FOLDER
# FOLDER then holds root.tar, and what was installed in it: dpkg-status (Debian's packages) and python.json (pip's). Needs mmdebstrap and Python.
# SOURCE_DATE_EPOCH  the time that files get
# DEBIAN_SOURCES     a file with apt's sources, in place of Debian's own servers: a mirror's, or those of one day of snapshot.debian.org
# A mirror of PyPI is set as for any pip (PIP_INDEX_URL). Debian's packages run programs while they are installed: for another processor, this computer has to be able
# to run those (qemu-user-static).
set -euo pipefail
arch=${1:?usage: ipa-root.sh ARCH FOLDER}
out=$(realpath "${2:?usage: ipa-root.sh ARCH FOLDER}")
sources=${DEBIAN_SOURCES:+$(realpath "$DEBIAN_SOURCES")}
cd "$(dirname "$0")/../.."
command -v mmdebstrap >/dev/null || { echo "ironflow: mmdebstrap is not installed: apt-get install mmdebstrap" >&2; exit 1; }
# The suite decides about the version of Python, and that about the wheels.
suite=bookworm python=3.11
case $arch in
amd64) machine=x86_64 ;;
arm64) machine=aarch64 ;;
*) echo "ironflow: the image of ironic-python-agent is made for amd64 and arm64, not for $arch" >&2; exit 1 ;;
esac
# psmisc (fuser) and qemu-utils (qemu-img) are for Ironic's own deploy interfaces; python3-venv goes again (install.sh).
packages=python3,python3-venv,iproute2,lshw,dmidecode,ipmitool,util-linux,parted,gdisk,mdadm,nvme-cli,smartmontools,hdparm,efibootmgr,dosfstools,pciutils,psmisc,qemu-utils

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
here=$(bash test/scripts/prerequisites.sh find-python)
"$here" -m venv "$work/venv"
files=$work/ipa
mkdir -p "$files/ironflow-ipa"
cp customdeploy/ipa/install.sh test/lab/ipa/requirements.txt "$files/"
cp -r customdeploy/ipa/{pyproject.toml,README.md,ironflow_ipa} "$files/ironflow-ipa/"
find "$files/ironflow-ipa" -name __pycache__ -prune -exec rm -r {} +
"$work/venv/bin/pip" download --quiet --disable-pip-version-check --no-deps --only-binary=:all: --require-hashes -r "$files/requirements.txt" --dest "$files/wheels" \
  --implementation cp --python-version "$python" --platform "manylinux_2_34_$machine" --platform "manylinux_2_28_$machine" --platform "manylinux2014_$machine"

# No manuals and no translations. What a build writes of this computer and this day is removed.
mmdebstrap --quiet --architectures="$arch" --variant=minbase --include="$packages" --skip=output/dev \
  --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/info/*' \
  --dpkgopt='path-exclude=/usr/share/locale/*' --dpkgopt='path-exclude=/usr/share/groff/*' --dpkgopt='path-exclude=/usr/share/lintian/*' \
  --dpkgopt='path-exclude=/usr/share/linda/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' --aptopt='Acquire::Languages "none"' \
  --customize-hook="copy-in '$files' /tmp" \
  --customize-hook='chroot "$1" sh -c "cd /tmp/ipa && exec sh install.sh"' \
  --customize-hook="download /tmp/ipa/python.json '$out/python.json'" \
  --customize-hook="download /var/lib/dpkg/status '$out/dpkg-status'" \
  --customize-hook='rm -f "$1/etc/resolv.conf" "$1/etc/hostname"' \
  "$suite" "$out/root.tar" ${sources:+"$sources"}
