// Package manifests renders what puts ironflow-cluster into a cluster: namespace,
// service account, least rights, a Secret with the hub's token, and the Deployment or
// Job. Ignition sources and the command `ironflow-cluster manifests` use [Render].
package manifests

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"regexp"
	"strconv"

	"sigs.k8s.io/yaml"

	"github.com/ironflow/ironflow/cluster/kept"
)

// Names in the cluster.
const (
	Namespace = "ironflow-cluster"
	Name      = "ironflow-cluster"
)

// Settings are what differs from cluster to cluster.
type Settings struct {
	// Image is the full reference of the program's image: registry, path, and tag or
	// digest. There is no default: whoever owns the name gets the program's rights.
	Image string
	// HubURL and ClusterID say whom to report to.
	HubURL, ClusterID string
	// Token is the agents' secret for the hub; empty for a hub without authentication.
	Token string
	// CA is a PEM bundle that the hub is trusted for; empty for the system's.
	CA       string
	Insecure bool
	// Stay makes a Deployment that goes on after the installation; else it is a Job.
	Stay bool
	// HubLeaves tells that the hub ends with one of the cluster's hosts: the program gets a
	// config map for what is known of the hosts, Hosts for now, and goes on by that.
	HubLeaves bool
	Hosts     kept.Record
	// OpenShift adds the right to read the authority of the cluster's routes.
	OpenShift bool
	// KubeAPI is the API's address where the service's is not reachable from a host's
	// network; empty for the service's.
	KubeAPI string
	// APIPort is the API's port on control-plane hosts; 0 for 6443.
	APIPort uint
	// Listen is the address of metrics and health; empty for the program's own.
	Listen string
	// Proxy are HTTP_PROXY, HTTPS_PROXY and NO_PROXY; empty ones are left out.
	Proxy map[string]string
}

type object map[string]any

// fullImage is a registry with a dot, a port or localhost, a path, and a tag or digest.
var fullImage = regexp.MustCompile(`^(localhost(:[0-9]+)?|[a-zA-Z0-9][a-zA-Z0-9-]*(\.[a-zA-Z0-9-]+)+(:[0-9]+)?|[a-zA-Z0-9-]+:[0-9]+|\[[0-9a-fA-F:]+\](:[0-9]+)?)(/[a-z0-9]+([._-]+[a-z0-9]+)*)+((:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?@sha256:[0-9a-f]{64}|:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})$`)

// Check says what cannot be rendered.
func (s Settings) Check() error {
	var wrong []error
	if !fullImage.MatchString(s.Image) {
		wrong = append(wrong, fmt.Errorf("image %q: want a full reference, REGISTRY/PATH:TAG or REGISTRY/PATH@sha256:DIGEST", s.Image))
	}
	if s.HubURL == "" {
		wrong = append(wrong, errors.New("the hub's URL is missing"))
	}
	if s.ClusterID == "" {
		wrong = append(wrong, errors.New("the cluster's id is missing"))
	}
	return errors.Join(wrong...)
}

// Render returns the manifests as YAML documents. All of it is as secret as the token.
func Render(s Settings) ([]byte, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	for _, o := range Objects(s) {
		raw, err := yaml.Marshal(o)
		if err != nil {
			return nil, err
		}
		out.WriteString("---\n")
		out.Write(raw)
	}
	return out.Bytes(), nil
}

// Objects are those that [Render] writes, in the order in which they are applied.
func Objects(s Settings) []map[string]any {
	out := []map[string]any{
		{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": Namespace, "labels": object{
			// The host's network is not for the usual pod.
			"pod-security.kubernetes.io/enforce": "privileged",
		}}},
		{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": object{"name": Name, "namespace": Namespace}},
	}
	for _, r := range Rights(s) {
		out = append(out, r.objects()...)
	}
	if s.HubLeaves {
		out = append(out, s.known())
	}
	secret := object{"token": s.Token}
	if s.CA != "" {
		secret["ca.crt"] = s.CA
	}
	for _, name := range s.proxies() { // there may be a password in it
		secret[name] = s.Proxy[name]
	}
	return append(out,
		map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": object{"name": Name, "namespace": Namespace}, "stringData": secret},
		workload(s))
}

// known is the config map with what is known of the hosts.
func (s Settings) known() map[string]any {
	o := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"name": kept.Name, "namespace": Namespace}}
	if text, err := s.Hosts.Text(); err == nil && len(s.Hosts.Hosts) > 0 { // plain values
		o["data"] = object{kept.Given: text}
	}
	return o
}

// proxies are the variables of a proxy that are set.
func (s Settings) proxies() (names []string) {
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"} {
		if s.Proxy[name] != "" {
			names = append(names, name)
		}
	}
	return names
}

const files = "/etc/ironflow-cluster"

func workload(s Settings) map[string]any {
	meta := object{"name": Name, "namespace": Namespace, "labels": object{"app": Name}}
	if s.Stay {
		return map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta, "spec": object{
			"replicas": 1, "strategy": object{"type": "Recreate"}, "selector": object{"matchLabels": object{"app": Name}},
			"template": object{"metadata": object{"labels": object{"app": Name}}, "spec": pod(s, "Always")},
		}}
	}
	return map[string]any{"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": object{
		"backoffLimit": 100,
		"template":     object{"metadata": object{"labels": object{"app": Name}}, "spec": pod(s, "OnFailure")},
	}}
}

// listen is the program's default.
const listen = "127.0.0.1:9445"

func pod(s Settings, restart string) object {
	env := []object{
		{"name": "INVENTORY_URL", "value": s.HubURL},
		{"name": "CLUSTER_ID", "value": s.ClusterID},
		{"name": "IRONFLOW_CLUSTER_TOKEN_FILE", "value": files + "/token"},
		{"name": "CA_CERT_PATH", "value": files + "/ca.crt"},
		{"name": "SKIP_CERT_VERIFICATION", "value": strconv.FormatBool(s.Insecure)},
		{"name": "IRONFLOW_CLUSTER_STAY", "value": strconv.FormatBool(s.Stay)},
	}
	if s.HubLeaves {
		env = append(env, object{"name": "IRONFLOW_CLUSTER_HUB_LEAVES", "value": "true"})
	}
	if s.KubeAPI != "" {
		env = append(env, object{"name": "IRONFLOW_CLUSTER_KUBE_API", "value": s.KubeAPI})
	}
	if s.APIPort != 0 {
		env = append(env, object{"name": "IRONFLOW_CLUSTER_API_PORT", "value": strconv.FormatUint(uint64(s.APIPort), 10)})
	}
	for _, name := range s.proxies() {
		env = append(env, object{"name": name, "valueFrom": object{"secretKeyRef": object{"name": Name, "key": name}}})
	}
	container := object{
		"name": Name, "image": s.Image, "imagePullPolicy": "IfNotPresent",
		"volumeMounts":             []object{{"name": "hub", "mountPath": files, "readOnly": true}},
		"terminationMessagePolicy": "FallbackToLogsOnError",
		"resources":                object{"requests": object{"cpu": "10m", "memory": "24Mi"}, "limits": object{"memory": "96Mi"}},
		"securityContext": object{
			"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "runAsNonRoot": true, "runAsUser": 65532,
			"capabilities": object{"drop": []string{"ALL"}}, "seccompProfile": object{"type": "RuntimeDefault"},
		},
	}
	address := s.Listen
	if address == "" {
		address = listen
	}
	if s.Listen != "" {
		env = append(env, object{"name": "IRONFLOW_CLUSTER_LISTEN", "value": s.Listen})
	}
	if host, port, err := net.SplitHostPort(address); err == nil {
		if n, err := strconv.Atoi(port); err == nil {
			container["livenessProbe"] = object{"httpGet": object{"host": host, "port": n, "path": "/healthz"}, "periodSeconds": 30, "timeoutSeconds": 10, "failureThreshold": 6}
		}
	}
	container["env"] = env
	var terms []object
	for _, role := range []string{"control-plane", "master"} {
		terms = append(terms, object{"matchExpressions": []object{{"key": "node-role.kubernetes.io/" + role, "operator": "Exists"}}})
	}
	return object{
		"serviceAccountName": Name, "restartPolicy": restart, "hostNetwork": true, "dnsPolicy": "Default", "priorityClassName": "system-cluster-critical",
		"affinity":    object{"nodeAffinity": object{"requiredDuringSchedulingIgnoredDuringExecution": object{"nodeSelectorTerms": terms}}},
		"tolerations": tolerations(), "containers": []object{container},
		// 0440 and the group let the user without rights read it, and nobody else.
		"securityContext": object{"fsGroup": 65532},
		"volumes":         []object{{"name": "hub", "secret": object{"secretName": Name, "defaultMode": 0o440}}},
	}
}

// goneAfter is how long, in seconds, a node has not been heard of when the program is started on another one.
const goneAfter = 60

// tolerations have it run on a node that is short of something: there may be no other one until it has approved that
// one's signing request. On one that nobody hears of any more it does not stay, since nobody else would approve a request.
func tolerations() []object {
	var all []object
	for _, key := range []string{
		"node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master", "node.kubernetes.io/not-ready",
		"node.kubernetes.io/network-unavailable", "node.cloudprovider.kubernetes.io/uninitialized",
		"node.kubernetes.io/disk-pressure", "node.kubernetes.io/memory-pressure", "node.kubernetes.io/pid-pressure",
	} {
		all = append(all, object{"key": key, "operator": "Exists"})
	}
	return append(all, object{"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": goneAfter})
}
