# What bootkube and cluster-bootstrap do: bring up etcd and an API server, apply all manifests, and wait for the others.
set -eu
export KUBECONFIG=/opt/openshift/auth/kubeconfig-loopback
systemctl start etcd.service kube-apiserver.service
until kubectl get --raw /readyz >/dev/null 2>&1; do sleep 1; done
until kubectl apply -f /opt/openshift/manifests -f /opt/openshift/openshift; do sleep 1; done
until [ "$(etcd-members count http://127.0.0.1:2379)" = 3 ]; do sleep 1; done
until [ "$(kubectl get nodes --no-headers | grep -c ' Ready')" -ge 2 ]; do sleep 1; done
touch /opt/openshift/.bootkube.done
