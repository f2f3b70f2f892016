package bootstrap

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"

	"github.com/ironflow/ironflow/agent/install/effect"
	"github.com/ironflow/ironflow/hub/wire"
)

// Names of the in-cluster controller, as hubs and log collectors know them.
const (
	controllerNamespace = "assisted-installer"
	controllerName      = "assisted-installer-controller"
)

// Controller is what the in-cluster controller needs to reach the hub.
type Controller struct {
	// HubURL is the hub's base URL.
	HubURL string
	// Token returns the agent's secret for the hub.
	Token func() string
	// CA is a PEM bundle to trust, empty for the system's; Insecure checks nothing.
	CA       string
	Insecure bool
}

// object is one Kubernetes object; JSON is YAML, too.
type object map[string]any

// named begins an object.
func named(apiVersion, kind, name string) object {
	meta := object{"name": name}
	if kind != "Namespace" && kind != "ClusterRole" && kind != "ClusterRoleBinding" {
		meta["namespace"] = controllerNamespace
	}
	return object{"apiVersion": apiVersion, "kind": kind, "metadata": meta}
}

func (o object) with(key string, value any) object {
	o[key] = value
	return o
}

// Manifest is a file below /opt/openshift/manifests.
type Manifest struct {
	Name    string
	Content []byte
	// Secret ones only root may read.
	Secret bool
}

// Manifests are the objects of the in-cluster controller, which bootkube applies:
// namespace, service account, role, binding, secret, config map and Job.
func (c Controller) Manifests(request wire.InstallCmdRequest) ([]Manifest, error) {
	role := "assisted-installer-controller-role"
	subjects := []object{{"kind": "ServiceAccount", "name": controllerName, "namespace": controllerNamespace}}
	availability := "Full"
	if request.ControlPlaneCount == 1 {
		availability = "None"
	}
	options := object{
		"inventory-url": c.HubURL, "cluster-id": request.ClusterID, "openshift-version": request.OpenshiftVersion,
		"skip-cert-verification": fmt.Sprint(c.Insecure), "check-cluster-version": fmt.Sprint(request.CheckCvo != nil && *request.CheckCvo),
		"high-availability-mode": availability,
		"must-gather-image":      request.MustGatherImage, "notify-num-reboots": fmt.Sprint(request.NotifyNumReboots),
	}
	if c.CA != "" {
		options["ca-cert-path"] = caMount + "/ca.crt"
	}
	list := []struct {
		name   string
		object object
	}{
		{"namespace", named("v1", "Namespace", controllerNamespace)},
		{"service-account", named("v1", "ServiceAccount", controllerName)},
		{"role", named("rbac.authorization.k8s.io/v1", "ClusterRole", role).with("rules", rules)},
		{"binding", named("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", controllerName).
			with("roleRef", object{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role}).with("subjects", subjects)},
		{"secret", named("v1", "Secret", controllerName+"-secret").with("stringData", object{"pull-secret-token": c.token()})},
		{"config-map", named("v1", "ConfigMap", controllerName+"-config").with("data", options)},
		{"ca", named("v1", "ConfigMap", controllerName+"-ca").with("data", object{"ca.crt": c.CA})},
		{"job", named("batch/v1", "Job", controllerName).with("spec", c.job(request))},
	}
	var out []Manifest
	for _, m := range list {
		raw, err := json.MarshalIndent(m.object, "", "  ")
		if err != nil {
			return nil, err
		}
		out = append(out, Manifest{Name: controllerName + "-" + m.name + ".yaml", Content: append(raw, '\n'), Secret: m.name == "secret"})
	}
	return out, nil
}

func (c Controller) token() string {
	if c.Token == nil {
		return ""
	}
	return c.Token()
}

// caMount is where the controller finds the hub's CA.
const caMount = "/etc/assisted-service-ca"

// rules are what the controller may do in the cluster: approve the certificates
// of nodes, look at nodes, operators and events, and say that it is ready.
var rules = []object{
	{"apiGroups": []string{"certificates.k8s.io"}, "resources": []string{"certificatesigningrequests"}, "verbs": []string{"get", "list", "watch"}},
	{"apiGroups": []string{"certificates.k8s.io"}, "resources": []string{"certificatesigningrequests/approval"}, "verbs": []string{"update"}},
	{"apiGroups": []string{"certificates.k8s.io"}, "resources": []string{"signers"}, "verbs": []string{"approve"}},
	{"apiGroups": []string{""}, "resources": []string{"nodes", "pods", "pods/log", "services", "configmaps", "secrets"}, "verbs": []string{"get", "list", "watch"}},
	{"apiGroups": []string{""}, "resources": []string{"nodes"}, "verbs": []string{"patch", "update"}},
	{"apiGroups": []string{""}, "resources": []string{"events"}, "verbs": []string{"create", "get", "list", "patch", "watch"}},
	{"apiGroups": []string{"config.openshift.io"}, "resources": []string{"clusteroperators", "clusterversions", "proxies"}, "verbs": []string{"get", "list", "watch"}},
	{"apiGroups": []string{"machineconfiguration.openshift.io"}, "resources": []string{"machineconfigpools"}, "verbs": []string{"get", "list", "watch"}},
}

// job runs the controller once, on the control plane.
func (c Controller) job(request wire.InstallCmdRequest) object {
	from := func(kind, name, key string) object { return object{kind: object{"name": name, "key": key}} }
	config := controllerName + "-config"
	env := []object{
		{"name": "INVENTORY_URL", "valueFrom": from("configMapKeyRef", config, "inventory-url")},
		{"name": "CLUSTER_ID", "valueFrom": from("configMapKeyRef", config, "cluster-id")},
		{"name": "OPENSHIFT_VERSION", "valueFrom": from("configMapKeyRef", config, "openshift-version")},
		{"name": "SKIP_CERT_VERIFICATION", "valueFrom": from("configMapKeyRef", config, "skip-cert-verification")},
		{"name": "CHECK_CLUSTER_VERSION", "valueFrom": from("configMapKeyRef", config, "check-cluster-version")},
		{"name": "HIGH_AVAILABILITY_MODE", "valueFrom": from("configMapKeyRef", config, "high-availability-mode")},
		{"name": "MUST_GATHER_IMAGE", "valueFrom": from("configMapKeyRef", config, "must-gather-image")},
		{"name": "NOTIFY_NUM_REBOOTS", "valueFrom": from("configMapKeyRef", config, "notify-num-reboots")},
		{"name": "PULL_SECRET_TOKEN", "valueFrom": from("secretKeyRef", controllerName+"-secret", "pull-secret-token")},
	}
	if c.CA != "" {
		env = append(env, object{"name": "CA_CERT_PATH", "valueFrom": from("configMapKeyRef", config, "ca-cert-path")})
	}
	for _, p := range proxies(request.Proxy) {
		env = append(env, object{"name": p[0], "value": p[1]})
	}
	container := object{
		"name": controllerName, "image": request.ControllerImage, "imagePullPolicy": "IfNotPresent", "env": env,
		"volumeMounts": []object{{"name": "ca", "mountPath": caMount, "readOnly": true}},
	}
	return object{
		"backoffLimit": 100,
		"template": object{
			"metadata": object{"labels": object{"app": controllerName}},
			"spec": object{
				"serviceAccountName": controllerName, "restartPolicy": "OnFailure", "hostNetwork": true,
				"nodeSelector": object{"node-role.kubernetes.io/master": ""},
				"tolerations": []object{
					{"key": "node-role.kubernetes.io/master", "operator": "Exists", "effect": "NoSchedule"},
					{"key": "node.kubernetes.io/not-ready", "operator": "Exists"},
				},
				"containers": []object{container},
				"volumes":    []object{{"name": "ca", "configMap": object{"name": controllerName + "-ca"}}},
			},
		},
	}
}

func proxies(p *wire.Proxy) [][2]string {
	if p == nil {
		return nil
	}
	var out [][2]string
	for _, row := range []struct {
		name  string
		value *string
	}{{"HTTP_PROXY", p.HTTPProxy}, {"HTTPS_PROXY", p.HTTPSProxy}, {"NO_PROXY", p.NoProxy}} {
		if row.value != nil && *row.value != "" {
			out = append(out, [2]string{row.name, *row.value})
		}
	}
	return out
}

// writeManifests puts them where bootkube applies everything from.
func (r *Role) writeManifests(ctx context.Context, request wire.InstallCmdRequest) error {
	if r.begun(ctx) {
		return nil
	}
	list, err := r.Controller.Manifests(request)
	if err != nil {
		return err
	}
	return r.Effects.Do(ctx, effect.WriteManifests, manifestsDir, func() error {
		for _, m := range list {
			mode := fs.FileMode(0o644)
			if m.Secret {
				mode = 0o600
			}
			if err := writeFile(r.Dir, path.Join(manifestsDir, m.Name), m.Content, mode); err != nil {
				return fmt.Errorf("%s: %w", m.Name, err)
			}
		}
		return nil
	})
}
