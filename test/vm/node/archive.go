package node

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/ironflow/ironflow/test/vm/node/images"
)

// PodNetwork is the network of pods for which the archive configures the CNI plugins;
// a node has all of its share's addresses behind a bridge.
const PodNetwork, podShare = "10.244.0.0/16", "10.244.0.0/24"

// bridge is a network of pods for a cluster of one node. More nodes need routes between
// them, which a real network's manifests bring.
const bridge = `{
  "cniVersion": "1.0.0",
  "name": "lab",
  "plugins": [
    {"type": "bridge", "bridge": "cni0", "isGateway": true, "ipMasq": true, "hairpinMode": true,
     "ipam": {"type": "host-local", "ranges": [[{"subnet": "` + podShare + `"}]], "routes": [{"dst": "0.0.0.0/0"}]}},
    {"type": "portmap", "capabilities": {"portMappings": true}}
  ]
}
`

// containerdConfig has runc run containers, in cgroups that systemd makes. %q is pause's
// image: containerd starts no pod without one, and knows only a registry that machines of
// a lab do not reach. Where nobody may make a process less likely to be killed for lack of
// memory, as in a container, pods start all the same.
const containerdConfig = `version = 3

[plugins.'io.containerd.cri.v1.images'.pinned_images]
  sandbox = %q

[plugins.'io.containerd.cri.v1.images'.registry]
  config_path = '/etc/containerd/certs.d'

[plugins.'io.containerd.cri.v1.runtime']
  restrict_oom_score_adj = true

[plugins.'io.containerd.cri.v1.runtime'.cni]
  bin_dirs = ['/opt/cni/bin']
  conf_dir = '/etc/cni/net.d'

[plugins.'io.containerd.cri.v1.runtime'.containerd]
  default_runtime_name = 'runc'

[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
  runtime_type = 'io.containerd.runc.v2'

[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
  BinaryName = '/opt/bin/runc'
  SystemdCgroup = true
`

// frugal has Go's programs do less where a processor is emulated: a rarer garbage
// collection, and a key exchange that costs half as much.
var frugal = []string{"GOGC=400", "GODEBUG=tlsmlkem=0"}

// kubeletUnit adds to the unit of the kubelet, which is the source's. Nodes in containers share the computer's disk: what
// others keep there is no reason to take no pods.
var kubeletUnit = "[Service]\nEnvironment=" + strings.Join(frugal, " ") + "\n" +
	"Environment=\"KUBELET_EXTRA_ARGS=--eviction-hard=memory.available<100Mi,nodefs.available<1%%,imagefs.available<1%%\"\n"

// Until the control plane is there, its pods come before the programs that look after them:
// by default these get more than half of the processors, the kubelet of 1.37 tries again ten
// times a second until it has a node, and a kube-apiserver that has not found its feet within
// a minute ends. Then there are other pods to start, and it is as it always is.
const (
	systemSlice = "[Slice]\nCPUWeight=25\n"
	joinedPath  = "[Path]\nPathExists=/var/lib/ironflow/kubernetes/joined\n"
	joinedUnit  = "[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/systemctl set-property --runtime system.slice CPUWeight=250\n"
)

// containerdUnit is containerd's own, with the folder of the archive.
var containerdUnit = `[Unit]
Description=containerd
After=network.target local-fs.target dbus.service

[Service]
Environment=PATH=/opt/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
Environment=` + strings.Join(frugal, " ") + `
ExecStartPre=-/sbin/modprobe overlay
ExecStart=/opt/bin/containerd
Type=notify
Delegate=yes
KillMode=process
Restart=always
RestartSec=5
LimitNPROC=infinity
LimitCORE=infinity
TasksMax=infinity
OOMScoreAdjust=-999
# An emulated processor is slow.
TimeoutStartSec=15min

[Install]
WantedBy=multi-user.target
`

// archive lists what the archive of a node's programs holds, besides the path of runc. Names
// are links to the one program that answers to them.
func (p Programs) archive(pause, runc string) []images.File {
	files := []images.File{
		{Path: "opt/bin/k8snode", From: p.file("k8snode")},
		{Path: "opt/bin/runc", From: runc},
		{Path: "etc/containerd/config.toml", Text: fmt.Sprintf(containerdConfig, pause), Mode: 0o644},
		{Path: "etc/cni/net.d/10-lab.conflist", Text: bridge, Mode: 0o644},
		{Path: "etc/systemd/system/containerd.service", Text: containerdUnit, Mode: 0o644},
		{Path: "etc/systemd/system/kubelet.service.d/10-lab.conf", Text: kubeletUnit, Mode: 0o644},
		{Path: "etc/systemd/system/system.slice.d/10-lab.conf", Text: systemSlice, Mode: 0o644},
		{Path: "etc/systemd/system/lab-joined.path", Text: joinedPath, Mode: 0o644},
		{Path: "etc/systemd/system/lab-joined.service", Text: joinedUnit, Mode: 0o644},
		{Path: "etc/systemd/system/containerd.service.wants/lab-joined.path", Link: "../lab-joined.path"},
	}
	for _, name := range []string{"kubeadm", "kubectl", "kubelet"} {
		files = append(files, images.File{Path: "opt/bin/" + name, Link: "k8snode"})
	}
	for _, name := range []string{"containerd", "containerd-shim-runc-v2", "ctr"} {
		files = append(files, images.File{Path: "opt/bin/" + name, From: p.file(name)})
	}
	for _, name := range []string{"bridge", "host-local", "loopback", "portmap"} {
		files = append(files, images.File{Path: "opt/cni/bin/" + name, From: p.file(name)})
	}
	return files
}

// writeArchive writes the archive to a file and returns its checksum as the source
// kubernetes wants it. It is hardly compressed: an emulated processor unpacks it.
func (p Programs) writeArchive(file, pause, runc string) (checksum string, err error) {
	out, err := os.Create(file)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	zip, err := gzip.NewWriterLevel(io.MultiWriter(out, sum), gzip.BestSpeed)
	if err != nil {
		return "", errors.Join(err, out.Close())
	}
	if err := errors.Join(images.Write(zip, p.archive(pause, runc)), zip.Close(), out.Close()); err != nil {
		return "", fmt.Errorf("write the archive of a node's programs: %w", err)
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil)), nil
}
