# What the host of the cluster's control plane and those that join have in common.
set -euo pipefail

here=/etc/ironflow/kubernetes
state=/var/lib/ironflow/kubernetes
joined=$state/joined

for program in kubeadm kubelet kubectl; do
  if ! command -v "$program" >/dev/null; then
    echo "$program is not installed: it has to be in the installed image or among the programs of the cluster" >&2
    exit 1
  fi
done
mkdir -p "$state" /etc/kubernetes/pki

# forget_attempt removes what an attempt that was interrupted may have left half written.
# All of it is made again; pods that run are not touched. They have the folders of
# certificates mounted, so that only files go: an etcd whose folder is made anew never
# sees another certificate, and refuses everybody.
forget_attempt() {
  rm -f /etc/kubernetes/pki/*.* /etc/kubernetes/pki/etcd/*.*
  rm -rf /var/lib/kubelet/pki
  rm -f /etc/kubernetes/{admin,super-admin,controller-manager,scheduler,kubelet,bootstrap-kubelet}.conf
}

# put_authorities gives kubeadm the cluster's authorities, which it then does not make.
put_authorities() {
  install -d -m 0700 /etc/kubernetes/pki /etc/kubernetes/pki/etcd
  for file in ca.crt ca.key front-proxy-ca.crt front-proxy-ca.key sa.key sa.pub etcd/ca.crt etcd/ca.key; do
    install -m 0600 "$here/pki/$file" "/etc/kubernetes/pki/$file"
  done
}

# finished ends the work for good. Without the first sync a loss of power may leave the
# mark and not what it stands for.
finished() {
  sync
  touch "$joined"
  sync
  echo "the host $NODE is a node of the cluster"
  exit 0
}
