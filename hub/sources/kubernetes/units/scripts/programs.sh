# Fetches the programs of Kubernetes that the cluster names, each once, and starts the
# container runtime. Runs at every start: what has been fetched is not fetched again.
set -euo pipefail

folder=/var/lib/ironflow/programs
mkdir -p "$folder" /var/lib/extensions

# install KIND NAME TOOL SUM URL: nothing takes effect before its checksum is right, and a
# program counts as installed only once it is on the disk.
install_program() {
  local kind=$1 name=$2 tool=$3 sum=$4 url=$5
  if [ -e "$folder/$sum" ]; then
    return
  fi
  echo "fetching the program $name"
  curl --fail --location --silent --show-error --connect-timeout 30 --speed-time 120 --speed-limit 1000 \
    --output "$folder/part" -- "$url"
  if ! echo "$sum  $folder/part" | "$tool" --check --status; then
    rm -f "$folder/part"
    echo "the program $name has another checksum than the cluster names" >&2
    return 1
  fi
  case $kind in
  sysext) mv "$folder/part" "/var/lib/extensions/$name.raw" ;;
  archive)
    tar --extract --gzip --no-same-owner --keep-directory-symlink --no-overwrite-dir --directory / --file "$folder/part"
    rm -f "$folder/part"
    ;;
  esac
  sync
  touch "$folder/$sum"
  sync
}

while read -r kind name tool sum url; do
  install_program "$kind" "$name" "$tool" "$sum" "$url"
  if [ "$kind" = sysext ]; then
    extensions=yes
  fi
done </etc/ironflow/kubernetes/programs.list

if [ -n "${extensions:-}" ]; then
  systemd-sysext refresh
fi
systemctl daemon-reload
# A unit of an extension is not known yet when the system starts, so that enabling it
# does not start it: this does, at every start.
systemctl start "$RUNTIME"
