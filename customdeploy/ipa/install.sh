#!/bin/sh
# Runs inside of the image's root file system while test/scripts/ipa-root.sh makes that, in a folder with requirements.txt, the
# wheels that it names, and this package. Nothing is downloaded. Leaves python.json, the list of what pip has installed.
set -eu
python3 -m venv /opt/ipa
# Settings for the downloads are none for what happens here.
pip() { /opt/ipa/bin/pip --isolated --disable-pip-version-check --no-cache-dir "$@"; }
pip install --quiet --no-index --find-links wheels --no-compile --require-hashes -r requirements.txt
pip install --quiet --no-index --no-build-isolation --no-compile --no-deps ./ironflow-ipa
pip list --format json --exclude pip >python.json
pip uninstall --quiet --yes pip
apt-get -qq purge --yes --autoremove python3-venv >/dev/null

# By its content, since the times of files change on their way into an image: byte code that is out of date would be compiled again, and kept in the
# host's memory, at each boot.
find /opt/ipa /usr/lib/python3* -name __pycache__ -prune -exec rm -r {} +
PYTHONHASHSEED=0 python3 -m compileall -q --invalidation-mode unchecked-hash /opt/ipa/lib /usr/lib/python3*

# IPA ends the machine by these names; the program asks the host's systemd.
ln -s ../bin/ironflow-step /usr/local/sbin/poweroff
ln -s ../bin/ironflow-step /usr/local/sbin/reboot
# The hardware database of udev is asked by the host alone.
rm -rf /usr/lib/udev/hwdb* /var/cache/debconf /var/log/*
# Made by chance when nvme-cli is installed: no two machines may have the same.
rm -f /etc/nvme/hostid /etc/nvme/hostnqn
