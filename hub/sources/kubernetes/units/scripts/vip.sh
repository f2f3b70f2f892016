# Has the API's address carried by a host of the control plane whose API server answers.
# Which card carries it is known only now: that with the host's own address.
set -euo pipefail

here=/etc/ironflow/kubernetes
interface=$(ip -oneline address show to "$ADDRESS" | awk 'NR == 1 { print $2 }')
if [ -z "$interface" ]; then
  echo "no network card has the host's address $ADDRESS yet" >&2
  exit 1
fi

# put SOURCE TARGET: the target is whole or not there.
put() {
  local folder
  folder=$(dirname "$2")
  mkdir -p "$folder"
  sed "s/@INTERFACE@/$interface/g" "$1" >"$folder/.ironflow"
  mv "$folder/.ironflow" "$2"
}

if [ -e "$here/kube-vip.yaml" ]; then
  put "$here/kube-vip.yaml" /etc/kubernetes/manifests/kube-vip.yaml
else
  put "$here/keepalived.conf" /etc/keepalived/keepalived.conf
  systemctl restart keepalived.service
fi
