# Part of make.sh: the file with which the live system installs its image without a download. As on CoreOS it names the parts of
# the image that are files of the live system, too, and holds the rest.

# link_objects links all larger files into the place where OSTree keeps its objects: coreos-installer looks for them there.
link_objects() {
  mkdir -p "$root/ostree/repo/objects"
  (cd "$root" && find usr -xdev -type f -size +3k -print0 | LC_ALL=C sort -z | xargs -0 sha256sum) |
    while read -r sum file; do
      mkdir -p "$root/ostree/repo/objects/${sum:0:2}"
      ln -f "$root/$file" "$root/ostree/repo/objects/${sum:0:2}/${sum:2}.file" 2>/dev/null
    done
}

# make_osmet writes usr/lib/coreos-osmet into the live system's root file system.
make_osmet() {
  local dir=$root/usr/lib/coreos-osmet
  mkdir -p "$dir"
  loop=$(losetup --find --show --read-only "$out/installed.raw")
  trap 'losetup -d "$loop"' EXIT
  # Of an earlier use of the loop device there may be partitions left.
  partx --update "$loop"
  "$installer" pack osmet --fast --description 'CoreOS layout of Debian packages' --output "$dir/x86_64-metal.osmet" \
    --checksum "$(sha256sum "$loop" | cut -d ' ' -f 1)" "$loop"
  partx --delete "$loop"
  losetup -d "$loop"
  trap - EXIT
}
