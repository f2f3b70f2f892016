# What an installed host of the control plane does: its etcd joins the others' by one of them, and its own API server begins.
set -eu
name=$1 address=$2 endpoint=$3
mkdir -p /etc/etcd
etcd-members join "$name" "http://$address:2380" "http://$endpoint:2379" >/etc/etcd/cluster.env
systemctl start etcd.service kube-apiserver.service
export KUBECONFIG=/etc/kubernetes/admin.kubeconfig
until kubectl get --raw /readyz >/dev/null 2>&1; do sleep 1; done
