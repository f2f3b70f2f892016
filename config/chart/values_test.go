package chart_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/ironflow/ironflow/test/pages"
)

// change is a value that differs from its default, on top of an overlay, and what is then in the manifests that was not there before; or, if
// nothing is, what no longer is.
type change struct{ overlay, set, want string }

// changes are for every value of the chart.
var changes = map[string]change{
	"image.repository":                   {"loadbalancer", "other.example/ironflow", "other.example/ironflow:v0.1.0"},
	"image.tag":                          {"loadbalancer", "v0.2.0", "registry.example/ironflow:v0.2.0"},
	"image.digest":                       {"loadbalancer", "sha256:" + strings.Repeat("0f", 32), "@sha256:0f0f"},
	"image.pullPolicy":                   {"loadbalancer", "Always", "imagePullPolicy: Always"},
	"image.pullSecrets":                  {"loadbalancer", `[{"name":"registry"}]`, "- name: registry"},
	"replicas":                           {"replicas", "3", "replicas: 3"},
	"exposure.type":                      {"loadbalancer", `none,exposure.loadBalancer.address=`, ""},
	"exposure.hubURL":                    {"loadbalancer", "https://[2001:db8::7]:8090", `"https://[2001:db8::7]:8090"`},
	"exposure.imagesURL":                 {"loadbalancer", "http://bmc-side.example:8080", "bmc-side.example"},
	"exposure.bmcEventsURL":              {"everything", "https://192.0.2.10:8092", "IRONFLOW_BMC_EVENTS_PUBLISH_URL"},
	"exposure.machinesInCluster":         {"loadbalancer", "true,exposure.hubURL=https://ironflow.ironflow-system.svc:8090", "ironflow.ironflow-system.svc"},
	"exposure.externalTrafficPolicy":     {"loadbalancer", "Local", "externalTrafficPolicy: Local"},
	"exposure.loadBalancer.address":      {"loadbalancer", "192.0.2.11", "loadBalancerIP: 192.0.2.11"},
	"exposure.loadBalancer.annotations":  {"loadbalancer", `{"pool.example/name":"bmcs"}`, "pool.example/name: bmcs"},
	"exposure.loadBalancer.sourceRanges": {"loadbalancer", `["192.0.2.0/24","2001:db8::/64"]`, "2001:db8::/64"},
	"exposure.nodePort.hub":              {"nodeport", "30190,exposure.hubURL=https://node-1.example:30190", "nodePort: 30190"},
	"exposure.nodePort.images":           {"nodeport", "30180,exposure.imagesURL=http://node-1.example:30180", "nodePort: 30180"},
	"exposure.nodePort.imagesTLS":        {"nodeport", "30143", "nodePort: 30143"},
	"exposure.nodePort.bmcEvents":        {"nodeport", "30192,features.bmc.enabled=true,exposure.bmcEventsURL=https://node-1.example:30192", "nodePort: 30192"},
	"exposure.ingress.className":         {"ingress", "haproxy", "ingressClassName: haproxy"},
	"exposure.ingress.annotations":       {"ingress", `{"proxy.example/body-size":"0"}`, "proxy.example/body-size"},
	"exposure.ingress.tlsSecret":         {"ingress", "another", "secretName: another"},
	"ironic.endpoint":                    {"loadbalancer", "https://[2001:db8::6]:6385", "2001:db8::6"},
	"ironic.machinesURL":                 {"loadbalancer", `"https://192.0.2.6:6385,https://[2001:db8::6]:6385"`, "IRONIC_BASE_URL"},
	"ironic.authSecret":                  {"loadbalancer", "password-of-ironic", "password-of-ironic"},
	"ironic.caSecret":                    {"loadbalancer", "authority-of-ironic", "authority-of-ironic"},
	"ironic.clientCertSecret":            {"loadbalancer", "our-certificate", "/opt/metal3/certs/client"},
	"ironic.insecure":                    {"loadbalancer", "true", "IRONIC_INSECURE"},
	"liveImage.agentImage":               {"loadbalancer", "other.example/agent:v1", "other.example/agent:v1"},
	"liveImage.agentForeign":             {"loadbalancer", "true", "IRONFLOW_IRONIC_AGENT_FOREIGN"},
	"liveImage.isoURL":                   {"controllers", "http://mirror.example/live.iso", "DEPLOY_ISO_URL"},
	"liveImage.kernelURL":                {"controllers", "http://mirror.example/kernel,liveImage.ramdiskURL=http://mirror.example/ramdisk", "DEPLOY_KERNEL_URL"},
	"liveImage.ramdiskURL":               {"controllers", "http://mirror.example/ramdisk,liveImage.kernelURL=http://mirror.example/kernel", "DEPLOY_RAMDISK_URL"},
	"baseImages.list":                    {"loadbalancer", `[{"url":"https://mirror.example/other.iso","sha256":"` + strings.Repeat("1f", 32) + `"}]`, "other.iso"},
	"baseImages.volume.enabled":          {"loadbalancer", "true", "name: ironflow-images"},
	"baseImages.volume.existingClaim":    {"loadbalancer", "isos,baseImages.volume.enabled=true", "claimName: isos"},
	"baseImages.volume.size":             {"loadbalancer", "21Gi,baseImages.volume.enabled=true", "storage: 21Gi"},
	"baseImages.volume.storageClass":     {"loadbalancer", "slow,baseImages.volume.enabled=true", "storageClassName: slow"},
	"data.existingClaim":                 {"loadbalancer", "kept", "claimName: kept"},
	"data.size":                          {"loadbalancer", "11Gi", "storage: 11Gi"},
	"data.storageClass":                  {"loadbalancer", "fast", "storageClassName: fast"},
	"data.accessMode":                    {"loadbalancer", "ReadWriteOncePod", "[ReadWriteOncePod]"},
	"database.url":                       {"loadbalancer", "postgres://ironflow@db.example:5432/ironflow", "IRONFLOW_DATABASE:"},
	"database.passwordSecret":            {"replicas", "other-password", "secretName: other-password"},
	"files.url":                          {"loadbalancer", "s3://ironflow/logs", "IRONFLOW_FILES:"},
	"files.endpoint":                     {"replicas", "https://s3-2.example", "https://s3-2.example"},
	"files.credentialsSecret":            {"replicas", "other-credentials", "secretName: other-credentials"},
	"features.hub.enabled": {
		"controllers",
		"true,replicas=1,exposure.type=none,exposure.hubURL=https://192.0.2.10:8090,exposure.imagesURL=http://192.0.2.10:8080,baseImages.volume.enabled=true",
		"args: [run, --leader-elect]",
	},
	"features.hostClaims.enabled":         {"loadbalancer", "true", "IRONFLOW_HOSTCLAIMS"},
	"features.bmc.enabled":                {"loadbalancer", "true", "IRONFLOW_BMC:"},
	"features.bmc.rotation.enabled":       {"loadbalancer", "true,features.bmc.enabled=true", "name: ironflow-bmc-rotation"},
	"features.clusterCredentials.enabled": {"loadbalancer", "true", "name: ironflow-cluster-credentials"},
	"watchNamespaces":                     {"loadbalancer", `["rack-a","rack-c"]`, `WATCH_NAMESPACE: "rack-a,rack-c"`},
	"userRoles.create":                    {"loadbalancer", "false", ""},
	"userRoles.aggregate":                 {"loadbalancer", "true", "aggregate-to-edit"},
	"admission.enabled":                   {"loadbalancer", "false", ""},
	"settings":                            {"loadbalancer", `{"IRONFLOW_LOG_LEVEL":"debug"}`, `IRONFLOW_LOG_LEVEL: "debug"`},
	"configuration":                       {"loadbalancer", `{"hosts":{"limit":12}}`, "mountPath: /etc/ironflow/configuration"},
	"networkPolicy.enabled":               {"loadbalancer", "false", ""},
	"networkPolicy.metricsFrom":           {"loadbalancer", `[{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"monitoring"}}}]`, "kubernetes.io/metadata.name: monitoring"},
	"networkPolicy.ingressFrom":           {"ingress", `[{"ipBlock":{"cidr":"192.0.2.0/24"}}]`, "cidr: 192.0.2.0/24"},
	"podDisruptionBudget.enabled":         {"replicas", "false", ""},
	"serviceMonitor.enabled":              {"loadbalancer", "true", "kind: ServiceMonitor"},
	"serviceMonitor.labels":               {"everything", `{"release":"prometheus"}`, "release: prometheus"},
	"serviceMonitor.interval":             {"everything", "15s", "interval: 15s"},
	"priorityClassName":                   {"loadbalancer", "system-cluster-critical", "priorityClassName: system-cluster-critical"},
	"resources.requests.cpu":              {"loadbalancer", "200m", "cpu: 200m"},
	"resources.requests.memory":           {"loadbalancer", "256Mi", "memory: 256Mi"},
	"resources.limits.memory":             {"loadbalancer", "1Gi", "memory: 1Gi"},
	"nodeSelector":                        {"loadbalancer", `{"rack":"a"}`, "rack: a"},
	"tolerations":                         {"loadbalancer", `[{"key":"infra","operator":"Exists"}]`, "key: infra"},
	"affinity": {
		"replicas",
		`{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"rack","operator":"Exists"}]}]}}}`,
		"nodeAffinity:",
	},
	"podAnnotations":      {"loadbalancer", `{"example.com/owner":"metal"}`, "example.com/owner: metal"},
	"podLabels":           {"loadbalancer", `{"team":"metal"}`, "team: metal"},
	"extraInitContainers": {"loadbalancer", `[{"name":"copy","image":"registry.example/programs:v1","volumeMounts":[{"name":"tmp","mountPath":"/programs"}]}]`, "- image: registry.example/programs:v1"},
	"extraVolumes": {
		"loadbalancer", `[{"name":"keys","secret":{"secretName":"ssh-keys"}}],extraVolumeMounts=[{"name":"keys","mountPath":"/etc/ironflow/keys"}]`,
		"secretName: ssh-keys",
	},
	"extraVolumeMounts": {"loadbalancer", `[{"name":"keys","mountPath":"/etc/ironflow/keys"}],extraVolumes=[{"name":"keys","emptyDir":{}}]`, "mountPath: /etc/ironflow/keys"},
}

// TestEveryValue does something, and a real API server takes what comes of it: each kind and each field is known to it.
func TestEveryValue(t *testing.T) {
	c := newCluster(t)
	c.create(monitors)
	c.upgrade("loadbalancer") // definitions and the namespace
	strict := client.WithFieldValidation(c.admin, "Strict")
	base := map[string]string{}
	c.Expect(slices.Sorted(maps.Keys(changes))).To(Equal(paths(t)), "values.yaml and the table of changes")
	for path, change := range changes {
		t.Run(path, func(t *testing.T) {
			g := NewWithT(t)
			if base[change.overlay] == "" {
				out, err := template(t, values(change.overlay)...)
				g.Expect(err).NotTo(HaveOccurred())
				base[change.overlay] = out
			}
			out, err := template(t, append(values(change.overlay), change.args(path)...)...)
			g.Expect(err).NotTo(HaveOccurred())
			if change.want == "" {
				g.Expect(len(out)).To(BeNumerically("<", len(base[change.overlay])))
			} else {
				g.Expect(out).To(ContainSubstring(change.want))
				g.Expect(base[change.overlay]).NotTo(ContainSubstring(change.want), "this says nothing")
			}
			for name, o := range decode(t, out) {
				if o.GetKind() == "PersistentVolumeClaim" { // of which none can be changed
					o.SetName(o.GetName() + "-2")
				}
				was := o.DeepCopy()
				if c.admin.Get(t.Context(), client.ObjectKeyFromObject(o), was) == nil {
					o.SetResourceVersion(was.GetResourceVersion())
					g.Expect(strict.Update(t.Context(), o, client.DryRunAll)).To(Succeed(), name)
					continue
				}
				g.Expect(strict.Create(t.Context(), o, client.DryRunAll)).To(Succeed(), name)
			}
		})
	}
}

// args are those of helm. What is set may go on with other values, after a comma: texts, or, if it begins as JSON does, JSON.
func (c change) args(path string) []string {
	if strings.HasPrefix(c.set, "{") || strings.HasPrefix(c.set, "[") || strings.HasPrefix(c.set, `"`) {
		return []string{"--set-json", path + "=" + c.set}
	}
	return []string{"--set", path + "=" + c.set}
}

// paths are those of all values of the chart, in order.
func paths(t *testing.T) []string {
	t.Helper()
	var all map[string]any
	NewWithT(t).Expect(yaml.UnmarshalStrict([]byte(text(t, "values.yaml")), &all)).To(Succeed())
	var found []string
	var walk func(string, any)
	walk = func(path string, value any) {
		below, isMap := value.(map[string]any)
		if !isMap || len(below) == 0 {
			found = append(found, path)
			return
		}
		for name, v := range below {
			walk(strings.TrimPrefix(path+"."+name, "."), v)
		}
	}
	walk("", all)
	slices.Sort(found)
	return found
}

// TestValuesAreDocumented: the table of docs/install.md is values.yaml, whose every value has a comment.
func TestValuesAreDocumented(t *testing.T) {
	pages.Generated{Root: "../..", Page: "install.md", Package: "./config/chart", Update: *update}.Hold(t, "values", tableOfValues(t))
}

// tableOfValues is made of the lines of values.yaml: each value, with the comment above it.
func tableOfValues(t *testing.T) string {
	t.Helper()
	g := NewWithT(t)
	var table strings.Builder
	table.WriteString("\n| value | default | meaning |\n|---|---|---|\n")
	var path, comment []string
	_, lines, _ := strings.Cut(text(t, "values.yaml"), "\n\n") // after what the file says of itself
	for line := range strings.Lines(lines) {
		depth := (len(line) - len(strings.TrimLeft(line, " "))) / 2
		line = strings.TrimSpace(line)
		switch name, value, _ := strings.Cut(line, ":"); {
		case line == "":
			comment = nil
		case strings.HasPrefix(line, "#"):
			comment = append(comment, strings.TrimSpace(strings.TrimPrefix(line, "#")))
		default:
			path = append(path[:depth:depth], name)
			value = strings.TrimSpace(value)
			g.Expect(value == "" || len(comment) > 0).To(BeTrue(), "%s has no comment", line)
			if len(comment) > 0 {
				table.WriteString("| `" + strings.Join(path, ".") + "` | " + quoted(value) + " | " + strings.Join(comment, " ") + " |\n")
			}
			comment = nil
		}
	}
	return table.String() + "\n"
}

// quoted is a default as the table shows it.
func quoted(value string) string {
	if value == "" || value == `""` || value == "[]" || value == "{}" {
		return ""
	}
	return "`" + value + "`"
}
