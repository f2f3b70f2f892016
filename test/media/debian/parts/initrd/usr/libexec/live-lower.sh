# Sourced: finds the root file system as the initrd of CoreOS does, on the medium of the label coreos.liveiso, or by HTTP
# from coreos.live.rootfs_url, and mounts it read-only on /run/live/lower. Modules and devices are there.

arg() { tr ' ' '\n' </proc/cmdline | sed -n "s|^$1=||p" | tail -n 1; }

mount_lower() {
    mkdir -p /run/live/lower /run/live/medium
    url=$(arg coreos.live.rootfs_url)
    if [ -n "$url" ]; then
        card=$(ls /sys/class/net | grep -v '^lo$' | head -n 1)
        ip link set "$card" up
        udhcpc -i "$card" -n -q -t 20 -s /usr/libexec/dhcp.sh
        mount -t tmpfs -o size=90% tmpfs /run/live/medium
        (cd /run/live/medium && wget -q -O - "$url" | cpio -i)
        mount -o loop -t squashfs /run/live/medium/root.squashfs /run/live/lower
        # NetworkManager is to find the interface untouched.
        ip addr flush dev "$card"
        ip link set "$card" down
        return
    fi
    label=$(arg coreos.liveiso)
    for _ in $(seq 100); do
        device=$(findfs "LABEL=$label" 2>/dev/null) && break
        sleep 0.2
    done
    mount -o ro -t iso9660 "$device" /run/live/medium
    # The archive holds one file, whose content begins behind a header of 110 and a name of 14 bytes.
    losetup -r -o 124 /dev/loop0 /run/live/medium/images/pxeboot/rootfs.img
    mount -o ro -t squashfs /dev/loop0 /run/live/lower
}
