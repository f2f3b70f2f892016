# Initialises the control plane. It may be interrupted at any moment and begins again:
# kubeadm's phases take what is there, and the data of etcd is never removed, because
# other hosts may have joined already.
. /etc/ironflow/kubernetes/common.sh

systemctl stop kubelet.service || true
forget_attempt
put_authorities
kubeadm init --config "$here/kubeadm.yaml" --skip-token-print
finished
