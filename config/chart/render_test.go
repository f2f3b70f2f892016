package chart_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"sigs.k8s.io/yaml"

	"github.com/ironflow/ironflow/api/config/v1alpha1"
)

// TestLint has helm's own judgement of the chart for every way in.
func TestLint(t *testing.T) {
	for _, overlay := range everyWay() {
		t.Run(overlay, func(t *testing.T) {
			out, err := helm(t, append([]string{"lint", "--strict", "--kube-version", oldest, "."}, values(overlay)...)...)
			NewWithT(t).Expect(err).NotTo(HaveOccurred(), out)
		})
	}
}

// TestEveryFileOfOverlaysIsRendered: none is forgotten when it is added.
func TestEveryFileOfOverlaysIsRendered(t *testing.T) {
	g := NewWithT(t)
	files, err := filepath.Glob("overlays/*.yaml")
	g.Expect(err).NotTo(HaveOccurred())
	used := map[string]bool{"example": true, "controllers": true, "defaults": true}
	for _, names := range overlays {
		for _, name := range names {
			used[name] = true
		}
	}
	for _, file := range files {
		g.Expect(used).To(HaveKey(strings.TrimSuffix(filepath.Base(file), ".yaml")))
	}
}

// TestWaysIn: how BMCs and machines reach the program.
func TestWaysIn(t *testing.T) {
	const outside = "Service ironflow-machines"
	t.Run("load balancer", func(t *testing.T) {
		g := NewWithT(t)
		s := as[corev1.Service](t, rendered(t, values("loadbalancer")...), outside)
		g.Expect(s.Spec.Type).To(Equal(corev1.ServiceTypeLoadBalancer))
		g.Expect(s.Spec.LoadBalancerIP).To(Equal("192.0.2.10"))
		g.Expect(ports(s)).To(Equal(map[string]int32{"hub": 8090, "images": 8080, "images-tls": 8443}))
	})
	t.Run("node port", func(t *testing.T) {
		g := NewWithT(t)
		s := as[corev1.Service](t, rendered(t, values("nodeport")...), outside)
		g.Expect(s.Spec.Type).To(Equal(corev1.ServiceTypeNodePort))
		var open []int32
		for _, p := range s.Spec.Ports {
			open = append(open, p.NodePort)
		}
		g.Expect(open).To(Equal([]int32{30090, 30080, 30443}))
	})
	t.Run("host network", func(t *testing.T) {
		g := NewWithT(t)
		all := rendered(t, values("hostnetwork")...)
		g.Expect(all).NotTo(HaveKey(outside))
		pod := podOf(t, all)
		g.Expect(pod.HostNetwork).To(BeTrue())
		g.Expect(pod.DNSPolicy).To(Equal(corev1.DNSClusterFirstWithHostNet), "or it resolves no Service, such as Ironic's")
		g.Expect(pod.NodeSelector).To(HaveKeyWithValue("kubernetes.io/hostname", "node-1"))
	})
	t.Run("ingress", func(t *testing.T) {
		g := NewWithT(t)
		all := rendered(t, values("ingress")...)
		g.Expect(all).NotTo(HaveKey(outside))
		spec := as[networkingv1.Ingress](t, all, "Ingress ironflow").Spec
		g.Expect(spec.TLS).To(Equal([]networkingv1.IngressTLS{{SecretName: "ironflow-tls", Hosts: []string{"hub.ironflow.example"}}}), "images are served in the clear")
		behind := map[string]string{}
		for _, rule := range spec.Rules {
			behind[rule.Host] = rule.HTTP.Paths[0].Backend.Service.Port.Name
		}
		g.Expect(behind).To(Equal(map[string]string{"hub.ironflow.example": "hub-plain", "images.ironflow.example": "images"}))
		for _, port := range behind {
			g.Expect(ports(as[corev1.Service](t, all, "Service ironflow"))).To(HaveKey(port))
		}
		g.Expect(environment(t, all)).To(HaveKeyWithValue("IRONFLOW_HUB_PLAIN_ADDR", ":8091"))
		policy := as[networkingv1.NetworkPolicy](t, all, "NetworkPolicy ironflow")
		for _, rule := range policy.Spec.Ingress {
			if rule.Ports[0].Port.StrVal == "hub-plain" {
				g.Expect(rule.From).To(HaveLen(1), "whom the ingress controller is, and nobody else")
				return
			}
		}
		t.Error("the ingress controller cannot reach the hub")
	})
	t.Run("ingress with TLS for BMCs", func(t *testing.T) {
		spec := as[networkingv1.Ingress](t, rendered(t, append(values("ingress"), "--set", "exposure.imagesURL=https://images.ironflow.example")...), "Ingress ironflow").Spec
		NewWithT(t).Expect(spec.TLS[0].Hosts).To(ConsistOf("hub.ironflow.example", "images.ironflow.example"))
	})
	t.Run("TLS to BMCs", func(t *testing.T) {
		g := NewWithT(t)
		all := rendered(t, values("tls-to-bmcs")...)
		env := environment(t, all)
		g.Expect(env).To(HaveKeyWithValue("IRONFLOW_IMAGES_PUBLISH_URL", "https://192.0.2.10:8443"))
		g.Expect(env).To(HaveKeyWithValue("IRONFLOW_BMC_EVENTS_ADDR", ":8092"))
		g.Expect(ports(as[corev1.Service](t, all, outside))).To(HaveKeyWithValue("bmc-events", int32(8092)))
	})
}

// ports are those of a Service by their names.
func ports(s *corev1.Service) map[string]int32 {
	numbers := map[string]int32{}
	for _, p := range s.Spec.Ports {
		numbers[p.Name] = p.Port
	}
	return numbers
}

// TestReplicas: two share nothing that only one can have, run on two nodes if there are, and are drained one after the other.
func TestReplicas(t *testing.T) {
	for _, overlay := range []string{"replicas", "controllers"} {
		t.Run(overlay, func(t *testing.T) {
			g := NewWithT(t)
			all := rendered(t, values(overlay)...)
			d := as[appsv1.Deployment](t, all, "Deployment ironflow")
			g.Expect(d.Spec.Replicas).To(HaveValue(Equal(int32(2))))
			g.Expect(d.Spec.Strategy.Type).To(BeEmpty(), "one after the other")
			g.Expect(d.Spec.Template.Spec.Affinity.PodAntiAffinity).NotTo(BeNil())
			g.Expect(all).To(HaveKey("PodDisruptionBudget ironflow"))
		})
	}
	t.Run("one", func(t *testing.T) {
		g := NewWithT(t)
		all := rendered(t, values("loadbalancer")...)
		g.Expect(as[appsv1.Deployment](t, all, "Deployment ironflow").Spec.Strategy.Type).To(Equal(appsv1.RecreateDeploymentStrategyType))
		g.Expect(all).NotTo(HaveKey("PodDisruptionBudget ironflow"), "which would hold up every drain")
	})
}

// TestBaseImagesCanBePutIntoTheirVolume by `ironflow media fetch` in the pod, as docs/install.md and the notes say.
func TestBaseImagesCanBePutIntoTheirVolume(t *testing.T) {
	g := NewWithT(t)
	for _, mount := range podOf(t, rendered(t, append(values("loadbalancer"), "--set", "baseImages.list=null,baseImages.volume.enabled=true")...)).Containers[0].VolumeMounts {
		if mount.MountPath == "/images" {
			g.Expect(mount.ReadOnly).To(BeFalse())
			return
		}
	}
	t.Error("no volume of base images is mounted")
}

// TestPodsOfTheBackupPage: the pods that docs/backup.md copies and restores a backup with have the volume, the settings and the user of
// the program.
func TestPodsOfTheBackupPage(t *testing.T) {
	g := NewWithT(t)
	page := text(t, "../../docs/backup.md")
	all := rendered(t, values("loadbalancer")...)
	program := podOf(t, all)
	pods := 0
	for _, block := range strings.Split(page, "```yaml\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		var pod corev1.Pod
		g.Expect(yaml.UnmarshalStrict([]byte(block), &pod)).To(Succeed(), block)
		pods++
		g.Expect(pod.Namespace).To(Equal(namespace))
		g.Expect(pod.Spec.SecurityContext.RunAsUser).To(Equal(program.SecurityContext.RunAsUser), "or it cannot read the file")
		g.Expect(all).To(HaveKey("PersistentVolumeClaim " + pod.Spec.Volumes[len(pod.Spec.Volumes)-1].PersistentVolumeClaim.ClaimName))
		if c := pod.Spec.Containers[0]; len(c.EnvFrom) > 0 {
			g.Expect(c.EnvFrom).To(Equal(program.Containers[0].EnvFrom))
			g.Expect(program.Containers[0].VolumeMounts).To(ContainElements(c.VolumeMounts))
		}
	}
	g.Expect(pods).To(Equal(2))
}

// TestControllersAlone has no part of the hub.
func TestControllersAlone(t *testing.T) {
	g := NewWithT(t)
	all := rendered(t, values("controllers")...)
	g.Expect(podOf(t, all).Containers[0].Args).To(Equal([]string{"controllers", "--leader-elect"}))
	for name := range all {
		g.Expect(name).NotTo(HavePrefix("PersistentVolumeClaim "))
		g.Expect(name).NotTo(Equal("Service ironflow-machines"))
	}
	g.Expect(ports(as[corev1.Service](t, all, "Service ironflow"))).To(Equal(map[string]int32{"metrics": 9443}))
}

// TestSettingsOfTheChartExist: what the chart puts into the environment is what the program reads.
func TestSettingsOfTheChartExist(t *testing.T) {
	g := NewWithT(t)
	page := text(t, "../../docs/configuration.md")
	for _, overlay := range everyWay() {
		for name := range environment(t, rendered(t, append(values(overlay), "--set", "settings.IRONFLOW_LOG_LEVEL=debug")...)) {
			g.Expect(page).To(ContainSubstring("| `"+name+"` |"), "%s sets %s", overlay, name)
		}
	}
}

// TestPortsAreThoseOfTheProgram: the chart opens what the program listens on by default, and says so where it is another.
func TestPortsAreThoseOfTheProgram(t *testing.T) {
	g := NewWithT(t)
	page := text(t, "../../docs/configuration.md")
	listeners := map[string]string{
		"hub": "IRONFLOW_HUB_ADDR", "hub-plain": "IRONFLOW_HUB_PLAIN_ADDR", "images": "IRONFLOW_IMAGES_ADDR", "images-tls": "IRONFLOW_IMAGES_TLS_ADDR",
		"bmc-events": "IRONFLOW_BMC_EVENTS_ADDR", "metrics": "IRONFLOW_METRICS_ADDR", "health": "IRONFLOW_HEALTH_ADDR",
	}
	for _, args := range [][]string{values("ingress"), values("tls-to-bmcs"), values("controllers")} {
		all := rendered(t, args...)
		for _, port := range podOf(t, all).Containers[0].Ports {
			g.Expect(listeners).To(HaveKey(port.Name))
			address := fmt.Sprintf(":%d", port.ContainerPort)
			if set := environment(t, all)[listeners[port.Name]]; set != "" {
				g.Expect(set).To(Equal(address), port.Name)
			} else {
				g.Expect(page).To(ContainSubstring("| `"+listeners[port.Name]+"` | `"+address+"` |"), port.Name)
			}
		}
	}
}

// TestSettingsOfTheUser reach the program, whatever YAML takes them for.
func TestSettingsOfTheUser(t *testing.T) {
	g := NewWithT(t)
	args := append(values("loadbalancer"), "--set", "settings.IRONFLOW_LIMIT_HOSTS=12,settings.IRONFLOW_HOST_SERIES=true,settings.IRONFLOW_LOG_LEVEL=debug")
	env := environment(t, rendered(t, args...))
	g.Expect(env).To(HaveKeyWithValue("IRONFLOW_LIMIT_HOSTS", "12"))
	g.Expect(env).To(HaveKeyWithValue("IRONFLOW_HOST_SERIES", "true"))
	g.Expect(env).To(HaveKeyWithValue("IRONFLOW_LOG_LEVEL", "debug"))
}

// TestConfigurationOfTheUser is the file that the program is told to read, which takes it as it is.
func TestConfigurationOfTheUser(t *testing.T) {
	g := NewWithT(t)
	const fields = `configuration={"hosts":{"limit":12,"metricSeries":true},"ironic":{"timeout":"45s"},"hubLimits":{"stageTimeouts":["Rebooting=1h"]},"liveSystem":{"ntpServers":["192.0.2.1"]}}`
	all := rendered(t, append(values("loadbalancer"), "--set-json", fields)...)
	g.Expect(environment(t, all)).To(HaveKeyWithValue("IRONFLOW_CONFIG", "/etc/ironflow/configuration/ironflow.yaml"))
	g.Expect(as[appsv1.Deployment](t, all, "Deployment ironflow").Spec.Template.Annotations).To(HaveKey("checksum/configuration"), "another file is another pod")
	var c v1alpha1.IronflowConfiguration
	file := as[corev1.ConfigMap](t, all, "ConfigMap ironflow-configuration").Data["ironflow.yaml"]
	g.Expect(yaml.UnmarshalStrict([]byte(file), &c)).To(Succeed(), file)
	var want v1alpha1.IronflowConfiguration
	want.APIVersion, want.Kind = v1alpha1.APIVersion, v1alpha1.Kind
	want.Hosts, want.Ironic.Timeout.Duration = v1alpha1.Hosts{Limit: 12, MetricSeries: true}, 45*time.Second
	want.HubLimits.StageTimeouts, want.LiveSystem.NTPServers = []string{"Rebooting=1h"}, []string{"192.0.2.1"}
	g.Expect(c).To(Equal(want))
}

// TestFieldsThatTheChartRefusesExist: a field that gets another name is refused by that name.
func TestFieldsThatTheChartRefusesExist(t *testing.T) {
	g := NewWithT(t)
	_, rules, found := strings.Cut(text(t, "templates/_check.tpl"), `define "ironflow.check.configuration"`)
	g.Expect(found).To(BeTrue())
	page := text(t, "../../docs/configuration.md")
	words := func(after string) []string {
		_, rest, found := strings.Cut(rules, after)
		g.Expect(found).To(BeTrue(), after)
		list, _, _ := strings.Cut(rest, " -}}")
		return strings.Fields(list)
	}
	fields := words("$fixed := list ")
	for i, word := range words("$own := dict ") {
		if i%2 == 0 { // the others are values of the chart
			fields = append(fields, word)
		}
	}
	g.Expect(len(fields)).To(BeNumerically(">", 30))
	for _, field := range fields {
		g.Expect(page).To(ContainSubstring("| `" + strings.Trim(field, `"`) + "` |"))
	}
}

// TestMemoryIsEnoughForAThousandHosts: a pod that is given less than docs/scale.md says that a fleet takes is killed again and again.
func TestMemoryIsEnoughForAThousandHosts(t *testing.T) {
	g := NewWithT(t)
	peaks := regexp.MustCompile(`(?m)^\| peak_mib \|.*?\| (?:at most )?(\d+) \|`).FindAllStringSubmatch(text(t, "../../docs/scale.md"), -1)
	g.Expect(peaks).To(HaveLen(2), "the controllers, and what BMCs add")
	var want int64
	for _, peak := range peaks {
		mib, err := strconv.ParseInt(peak[1], 10, 64)
		g.Expect(err).NotTo(HaveOccurred())
		want += mib << 20
	}
	given := podOf(t, rendered(t, values("loadbalancer")...)).Containers[0].Resources.Limits.Memory().Value()
	g.Expect(given).To(BeNumerically(">", want))
}

// TestImagesArePinned by a release or a digest.
func TestImagesArePinned(t *testing.T) {
	digest := "sha256:" + strings.Repeat("0f", 32)
	for name, tc := range map[string]struct{ set, want string }{
		"a tag":                  {"image.tag=v0.1.0", "registry.example/ironflow:v0.1.0"},
		"the chart's release":    {"image.tag=", "registry.example/ironflow:devel"},
		"a digest":               {"image.digest=" + digest, "registry.example/ironflow@" + digest},
		"a registry with a port": {"image.repository=registry.example:5000/a/ironflow", "registry.example:5000/a/ironflow:v0.1.0"},
	} {
		t.Run(name, func(t *testing.T) {
			pod := podOf(t, rendered(t, append(values("loadbalancer"), "--set", tc.set)...))
			NewWithT(t).Expect(pod.Containers[0].Image).To(Equal(tc.want))
		})
	}
}

// TestSeveralIronics: the values of an edge site mount the file that the Secret of the sample holds, and name it.
func TestSeveralIronics(t *testing.T) {
	g := NewWithT(t)
	all := rendered(t, values("edge-site")...)
	pod := podOf(t, all)
	g.Expect(environment(t, all)).To(HaveKeyWithValue("IRONFLOW_IRONIC_ENDPOINTS", "/etc/ironflow/ironics/ironics.yaml"))
	g.Expect(environment(t, all)).NotTo(HaveKey("IRONIC_ENDPOINT"))
	g.Expect(pod.Containers[0].VolumeMounts).To(ContainElement(And(HaveField("Name", "ironics"), HaveField("MountPath", "/etc/ironflow/ironics"))))
	g.Expect(pod.Volumes).To(ContainElement(And(HaveField("Name", "ironics"), HaveField("VolumeSource.Secret.SecretName", "ironics"))))
}

// TestOpenShiftInstallIsInThePod by each way that docs/install.md has: the setting names a file below what is mounted, of a volume that somebody fills.
func TestOpenShiftInstallIsInThePod(t *testing.T) {
	g := NewWithT(t)
	_, section, found := strings.Cut(text(t, "../../docs/install.md"), "\n## openshift-install\n")
	g.Expect(found).To(BeTrue())
	section, _, _ = strings.Cut(section, "\n## ")
	ways := map[string][]string{"a container": {"--values", "overlays/openshift-install.yaml"}}
	for i, name := range []string{"an image", "a claim"} {
		block, _, found := strings.Cut(strings.Split(section, "```yaml\n")[1:][i], "```")
		g.Expect(found).To(BeTrue())
		file := filepath.Join(t.TempDir(), "values.yaml")
		g.Expect(os.WriteFile(file, []byte(block), 0o600)).To(Succeed())
		ways[name] = []string{"--values", file}
	}
	filled := map[string]func(corev1.PodSpec, corev1.Volume) bool{
		"a container": func(pod corev1.PodSpec, v corev1.Volume) bool {
			return v.EmptyDir != nil && len(pod.InitContainers) == 1 && pod.InitContainers[0].VolumeMounts[0].Name == v.Name
		},
		"an image": func(_ corev1.PodSpec, v corev1.Volume) bool { return v.Image != nil && v.Image.Reference != "" },
		"a claim":  func(_ corev1.PodSpec, v corev1.Volume) bool { return v.PersistentVolumeClaim != nil },
	}
	for name, args := range ways {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			all := rendered(t, append(values("loadbalancer"), args...)...)
			pod, path := podOf(t, all), environment(t, all)["IRONFLOW_HUB_OPENSHIFT_INSTALL"]
			for _, mount := range pod.Containers[0].VolumeMounts {
				for _, v := range pod.Volumes {
					if strings.HasPrefix(path, mount.MountPath+"/") && v.Name == mount.Name && filled[name](pod, v) {
						return
					}
				}
			}
			g.Expect(path).To(BeEmpty(), "no volume has it")
			t.Error("the program is not told where openshift-install is")
		})
	}
}
