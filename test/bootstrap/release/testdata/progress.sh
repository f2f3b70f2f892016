# What progress and the etcd operator do: once the others are there, etcd leaves this host.
set -eu
until [ -e /opt/openshift/.bootkube.done ]; do sleep 1; done
etcd-members leave bootstrap http://@stays@:2379 # by one that stays
