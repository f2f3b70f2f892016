# A host with one card and a bridge, whose NetworkManager is the real one, in namespaces of its
# own: it has the card's connection "old". The arguments are what runs on it.
set -e
mount -t sysfs -o ro none /sys # read-only, so that nobody waits for udev
for folder in /run /var/lib/NetworkManager /etc/NetworkManager; do
    mount -t tmpfs tmpfs "$folder"
done
mkdir -p /run/dbus /etc/NetworkManager/system-connections
cat > /run/bus.conf <<'END'
<busconfig><type>system</type><listen>unix:path=/run/dbus/system_bus_socket</listen>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/><allow user="*"/></policy></busconfig>
END
cat > /etc/NetworkManager/NetworkManager.conf <<'END'
[main]
plugins=keyfile
auth-polkit=false
no-auto-default=*
[keyfile]
unmanaged-devices=interface-name:switch0;interface-name:br0
END
cat > /etc/NetworkManager/system-connections/old.nmconnection <<'END'
[connection]
id=old
type=ethernet
interface-name=eth0
[ipv4]
method=manual
address1=192.0.2.5/24
[ipv6]
method=disabled
END
chmod 600 /etc/NetworkManager/system-connections/old.nmconnection
ip link set lo up
ip link add eth0 type veth peer name switch0
ip link add br0 type bridge
ip link set switch0 up
dbus-daemon --config-file=/run/bus.conf --fork
NetworkManager
"$@"
