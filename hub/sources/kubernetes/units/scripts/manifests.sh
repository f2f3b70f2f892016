# Applies the cluster's manifests in their order, until all of them have been taken: one
# may need what another one brings, or a program that still starts.
set -uo pipefail

# kubeadm takes minutes, or waits for other hosts.
while [ ! -e /var/lib/ironflow/kubernetes/joined ]; do
  sleep 5
done
failed=
for file in /etc/ironflow/kubernetes/manifests/*; do
  if ! kubectl --kubeconfig=/etc/kubernetes/admin.conf --request-timeout=60s apply --server-side --force-conflicts --field-manager=ironflow --filename="$file"; then
    failed=yes
  fi
done
if [ -n "$failed" ]; then
  exit 1
fi
touch /var/lib/ironflow/kubernetes/applied
sync
