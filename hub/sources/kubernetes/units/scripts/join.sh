# Joins the cluster, as a worker or, where the host has the authorities, as one more of
# the control plane. It may be interrupted at any moment and begins again.
. /etc/ironflow/kubernetes/common.sh

# Until the endpoint answers nothing is touched: after a loss of power everywhere, the
# cluster's etcd may need the member that an earlier attempt has left on this host.
if ! curl --fail --silent --max-time 20 --noproxy '*' --cacert "$here/pki/ca.crt" --output /dev/null "https://$ENDPOINT/livez"; then
  echo "the cluster's endpoint $ENDPOINT does not answer yet" >&2
  exit 1
fi

control_plane=
if [ -e "$here/pki/ca.key" ]; then
  control_plane=yes
fi

# node runs kubectl as this node.
node() { kubectl --kubeconfig=/etc/kubernetes/kubelet.conf --request-timeout=20s "$@"; }

# An attempt may have been complete and not have said so.
if [ -s /etc/kubernetes/kubelet.conf ] && labels=$(node get node "$NODE" --no-headers --show-labels); then
  if [ -z "$control_plane" ] || [[ $labels == *node-role.kubernetes.io/control-plane* ]]; then
    finished
  fi
fi

# Whatever happens below, pods of an earlier attempt are looked after.
trap 'systemctl start --no-block kubelet.service || true' EXIT
systemctl stop kubelet.service || true
forget_attempt
if [ -n "$control_plane" ]; then
  put_authorities
  # kubeadm joins no host whose node is there and seems to be ready.
  access=$(mktemp -d)
  kubeadm init phase kubeconfig admin --kubeconfig-dir "$access" --control-plane-endpoint "$ENDPOINT" --kubernetes-version "$VERSION" >/dev/null
  kubectl --kubeconfig="$access/admin.conf" --request-timeout=20s delete node "$NODE" --ignore-not-found
  rm -rf "$access"
fi
kubeadm join --config "$here/kubeadm.yaml"
finished
