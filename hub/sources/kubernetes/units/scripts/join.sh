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

# ask_etcd PATH JSON asks the cluster's etcd at $etcd by its JSON API: an installed system need not have etcdctl.
ask_etcd() {
  curl --fail --silent --show-error --max-time 20 --noproxy '*' --globoff --cacert "$access/pki/etcd/ca.crt" \
    --cert "$access/pki/etcd/healthcheck-client.crt" --key "$access/pki/etcd/healthcheck-client.key" --data "$2" "$etcd/v3/cluster/member/$1"
}

# forget_member takes out of the cluster's etcd the member that an earlier host of this address was. Its data are gone with
# its disk, so that nothing is lost; but this host would take its place without what it had promised to the others, which
# they do not take it for. A member that has never run has no name: kubeadm goes on with it.
forget_member() {
  if [ -e /var/lib/etcd/member/wal ]; then
    return
  fi
  local peer="https://$ADDRESS:2380" members="" line id etcd
  if [[ $ADDRESS == *:* ]]; then
    peer="https://[$ADDRESS]:2380"
  fi
  install -d -m 0700 "$access/pki/etcd"
  install -m 0600 "$here/pki/etcd/ca.crt" "$here/pki/etcd/ca.key" "$access/pki/etcd/"
  kubeadm init phase certs etcd-healthcheck-client --cert-dir "$access/pki" --kubernetes-version "$VERSION" >/dev/null
  for etcd in $(kubectl --kubeconfig="$access/admin.conf" --request-timeout=20s --namespace kube-system get pods --selector component=etcd,tier=control-plane \
    --output 'jsonpath={.items[*].metadata.annotations.kubeadm\.kubernetes\.io/etcd\.advertise-client-urls}'); do
    if members=$(ask_etcd list '{}'); then
      break
    fi
  done
  if [ -z "$members" ]; then
    echo "no etcd of the cluster answers" >&2
    return 1
  fi
  local nodes="" name ready addresses other=""
  nodes=$(kubectl --kubeconfig="$access/admin.conf" --request-timeout=20s get nodes \
    --output 'jsonpath={range .items[*]}{.metadata.name} {.status.conditions[?(@.type=="Ready")].status} {.status.addresses[*].address}{"\n"}{end}')
  while read -r name ready addresses; do
    if [ "$name" != "$NODE" ] && [ "$ready" = True ] && [[ " $addresses " == *" $ADDRESS "* ]]; then
      other=$name
    fi
  done <<<"$nodes"
  while read -r line; do
    if [[ $line == *"\"$peer\""* && $line =~ \"name\":\ *\"[^\"] && $line =~ \"ID\":\ *\"([0-9]+)\" ]]; then
      id=${BASH_REMATCH[1]}
      if [ -n "$other" ]; then # two hosts were given one address, and that one is not lost
        echo "node $other is Ready and has the address $ADDRESS, too: its member of etcd is not removed; if it is lost, this goes on when Kubernetes has noticed, else give one of the two another address" >&2
        return 1
      fi
      echo "an earlier host at $ADDRESS is a member of etcd, and its data are not here: the member is removed"
      ask_etcd remove "{\"ID\":\"$id\"}" >/dev/null
    fi
  done < <(tr '{' '\n' <<<"$members")
}

# An attempt may have been complete and not have said so.
if [ -s /etc/kubernetes/kubelet.conf ] && labels=$(node get node "$NODE" --no-headers --show-labels); then
  if [ -z "$control_plane" ] || [[ $labels == *node-role.kubernetes.io/control-plane* ]]; then
    finished
  fi
fi

# Whatever happens below, pods of an earlier attempt are looked after.
access=
trap 'rm -rf "$access"; systemctl start --no-block kubelet.service || true' EXIT
systemctl stop kubelet.service || true
forget_attempt
if [ -n "$control_plane" ]; then
  put_authorities
  # kubeadm joins no host whose node is there and seems to be ready.
  access=$(mktemp -d)
  kubeadm init phase kubeconfig admin --kubeconfig-dir "$access" --control-plane-endpoint "$ENDPOINT" --kubernetes-version "$VERSION" >/dev/null
  kubectl --kubeconfig="$access/admin.conf" --request-timeout=20s delete node "$NODE" --ignore-not-found
  forget_member
  rm -rf "$access"
fi
kubeadm join --config "$here/kubeadm.yaml"
finished
