# What is taken out of Debian packages without installing them.

# fetch_packages NAME... unpacks the kernel and the named packages into $work/packages, and sets packages and release.
fetch_packages() {
  local kernel
  kernel=$(apt-cache depends linux-image-amd64 | awk '/Depends: linux-image-6/ {print $2; exit}')
  mkdir -p "$work/debs" "$work/packages"
  (cd "$work/debs" && apt-get download -qq "$kernel" "$@" 2>&1 |
    grep -v 'performed unsandboxed' || true)
  for deb in "$work"/debs/*.deb; do dpkg-deb -x "$deb" "$work/packages"; done
  rm -rf "$work/debs"
  packages=$work/packages
  release=$(basename "$packages"/lib/modules/*)
}

# add_modules ROOT NAME... copies kernel modules and what they need into ROOT.
add_modules() {
  local root=$1 file
  shift
  depmod -b "$packages" "$release"
  mkdir -p "$root/usr/lib/modules/$release"
  modprobe -d "$packages" -S "$release" -a --show-depends "$@" | awk '$1 == "insmod" {print $2}' | sort -u |
    while read -r file; do
      install -D -m 0644 "$file" "$root/usr${file#"$packages"}"
    done
  cp "$packages/lib/modules/$release"/modules.{order,builtin,builtin.modinfo} "$root/usr/lib/modules/$release/"
  depmod -b "$root/usr" "$release" 2>/dev/null || depmod -b "$root" "$release"
}
