package kubernetes

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/sources/kubernetes/units"
	"github.com/ironflow/ironflow/hub/wire"
)

// card stands for the name of the network card, which the host finds out.
const card = "@INTERFACE@"

// vip adds what has a host of the control plane carry the API's address.
func (p *plan) vip(c *config, h *sources.Host) error {
	if h.Role != wire.HostRoleMaster || !carriesVIP(p.order) {
		return nil
	}
	if p.order.Kubernetes.VIPImage == "" {
		c.put(units.Keepalived, public, p.keepalived())
		return nil
	}
	pod, err := p.kubeVIP(h)
	if err != nil {
		return fmt.Errorf("static pod of kube-vip: %w", err)
	}
	c.put(units.KubeVIP, public, pod)
	return nil
}

// keepalived is its configuration. A host whose API server does not answer is at fault
// and carries nothing. All start as backup with equal priority, so that a host that
// comes back does not take the address away from one that serves.
func (p *plan) keepalived() []byte {
	var out strings.Builder
	fmt.Fprintf(&out, `global_defs {
  enable_script_security
  script_user root
}
vrrp_script api {
  script "/bin/bash %s/%s"
  interval 3
  timeout 5
  rise 2
  fall 3
}
`, units.Folder, units.CheckAPI)
	for _, one := range p.vips {
		fmt.Fprintf(&out, `vrrp_instance api_%d {
  state BACKUP
  nopreempt
  interface %s
  virtual_router_id %d
  priority 100
  advert_int 1
  virtual_ipaddress {
    %s/%d
  }
  track_script {
    api
  }
}
`, family(one), card, routerID(one), one, one.BitLen())
	}
	return []byte(out.String())
}

// family is 4 or 6.
func family(a netip.Addr) int {
	if a.Is4() {
		return 4
	}
	return 6
}

// routerID is the address's last byte: no two clusters of a network of up to 254 hosts
// have the same one. 0 is not allowed.
func routerID(a netip.Addr) int {
	raw := a.AsSlice()
	return max(1, int(raw[len(raw)-1]))
}

// kubeVIP is the static pod that carries the address. It asks the API server of its own
// host, by the name kubernetes. On the first host the usual administrator has no rights
// until the cluster is initialised, so that it takes the other one there.
func (p *plan) kubeVIP(h *sources.Host) ([]byte, error) {
	access := "/etc/kubernetes/admin.conf"
	if p.initialises(h) {
		access = "/etc/kubernetes/super-admin.conf"
	}
	address := p.vips[0]
	env := []map[string]any{{
		"name": "vip_nodename", "valueFrom": map[string]any{"fieldRef": map[string]string{"fieldPath": "spec.nodeName"}},
	}}
	for _, one := range [][2]string{
		{"address", address.String()},
		{"vip_subnet", strconv.Itoa(address.BitLen())},
		{"vip_interface", card},
		{"port", strconv.Itoa(apiPort)},
		{"vip_arp", "true"},
		{"cp_enable", "true"},
		{"cp_namespace", "kube-system"},
		{"svc_enable", "false"},
		{"vip_leaderelection", "true"},
		{"vip_leasename", "plndr-cp-lock"},
		{"vip_leaseduration", "15"},
		{"vip_renewdeadline", "10"},
		{"vip_retryperiod", "2"},
	} {
		env = append(env, map[string]any{"name": one[0], "value": one[1]})
	}
	return yaml.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]string{"name": "kube-vip", "namespace": "kube-system"},
		"spec": map[string]any{
			"hostNetwork": true, "priorityClassName": "system-node-critical",
			"hostAliases": []any{map[string]any{"ip": loopback(address), "hostnames": []string{"kubernetes"}}},
			"containers": []any{map[string]any{
				"name": "kube-vip", "image": p.order.Kubernetes.VIPImage, "imagePullPolicy": "IfNotPresent", "args": []string{"manager"}, "env": env,
				"securityContext": map[string]any{"capabilities": map[string]any{"add": []string{"NET_ADMIN", "NET_RAW"}, "drop": []string{"ALL"}}},
				"volumeMounts":    []any{map[string]any{"name": "kubeconfig", "mountPath": "/etc/kubernetes/admin.conf", "readOnly": true}},
			}},
			"volumes": []any{map[string]any{"name": "kubeconfig", "hostPath": map[string]string{"path": access, "type": "File"}}},
		},
	})
}

// loopback is that of the address's family.
func loopback(a netip.Addr) string {
	if a.Is4() {
		return "127.0.0.1"
	}
	return "::1"
}
