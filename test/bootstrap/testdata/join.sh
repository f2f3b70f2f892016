# What an installed host of the control plane does: its etcd joins the one of the bootstrap host, its own API server begins, and its node is Ready.
set -eu
name=$1 address=$2
mkdir -p /etc/etcd
etcd-members join "$name" "http://$address:2380" http://192.0.2.10:2379 >/etc/etcd/cluster.env
systemctl start etcd.service kube-apiserver.service
export KUBECONFIG=/etc/kubernetes/admin.kubeconfig
until kubectl get --raw /readyz >/dev/null 2>&1; do sleep 1; done
kubectl apply -f - <<EOF
{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "$name", "labels": {"node-role.kubernetes.io/master": ""}}}
EOF
kubectl patch node "$name" --subresource=status --type=merge \
  --patch "{\"status\": {\"conditions\": [{\"type\": \"Ready\", \"status\": \"True\"}], \"addresses\": [{\"type\": \"InternalIP\", \"address\": \"$address\"}]}}"
