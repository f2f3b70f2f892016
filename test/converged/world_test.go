//go:build e2e

package converged_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/agent/scenario"
	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	hivev1 "github.com/ironflow/ironflow/api/hive/v1"
	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/cluster/manifests"
	"github.com/ironflow/ironflow/test/cluster/incluster"
	"github.com/ironflow/ironflow/test/hub/realregistry"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/labtest"
	"github.com/ironflow/ironflow/test/machine"
	"github.com/ironflow/ironflow/test/media"
	"github.com/ironflow/ironflow/test/openshiftinstall"
	"github.com/ironflow/ironflow/test/scenario/generate"
	"github.com/ironflow/ironflow/test/shipped"
)

const (
	// patience is for a machine that has other work.
	patience = 20 * time.Minute
	look     = 500 * time.Millisecond
	// heartbeat is how long a ramdisk may be silent, see test/demo.
	heartbeat = 40 * time.Second

	namespace = "site"
	infraEnv  = "edge"
	cluster   = "prod"
	pullName  = "pull-secret"
	version   = "4.20.1"
	// The machines are in this network, from .10 on.
	network, apiVIP, ingressVIP = "198.18.0.0/16", "198.18.0.3", "198.18.0.4"
	// userToken reads bootstrap.ign as the bootstrap host does.
	userToken = "the-user-of-this-test"
	// releases is where the release's image is said to be; no DNS knows it, a mirror has it.
	releases = "quay.example.invalid/ocp"
	// clusterImage is put among the manifests; nobody runs a pod of it.
	clusterImage = "registry.example/ironflow-cluster:e2e"
)

// world is a site with three machines, and the API of the cluster that they become.
type world struct {
	*WithT
	*testing.T
	client.Client
	dir, bin  string
	scenarios []*scenario.Scenario
	fleet     *machine.Fleet
	lab       *lab.Lab
	ironflow  *shipped.Process
	installer *openshiftinstall.Program
	inner     *incluster.Cluster
	// registry is the mirror, release the image's reference.
	registry *realregistry.Registry
	release  string
}

// programs is the folder of the programs, which have to be built before.
func programs(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("IRONFLOW_BIN")
	switch {
	case dir != "":
		return dir
	case os.Getenv("CI") == "true":
		t.Fatal("IRONFLOW_BIN is not set: run this by `make test-e2e`")
	default:
		t.Skip("IRONFLOW_BIN is not set: run this by `make test-e2e`, which builds the programs first")
	}
	return ""
}

func newWorld(t *testing.T) *world {
	t.Helper()
	ctrl.SetLogger(logr.Discard())
	w := &world{WithT: NewWithT(t), T: t, bin: programs(t), dir: t.TempDir(), installer: openshiftinstall.New(t)}
	w.startInner()
	w.startRegistry()
	w.startMachines()
	w.startIronflow()
	return w
}

// startInner starts the API of the cluster that is to be installed, with what only OpenShift
// makes: its operators are not available yet.
func (w *world) startInner() {
	w.Helper()
	plane := labtest.ControlPlane(w.T, lab.ControlPlaneOptions{})
	var err error
	w.inner, err = incluster.New(w.Context(), plane)
	w.Expect(err).NotTo(HaveOccurred())
	w.Cleanup(w.inner.Close)
	w.Expect(w.inner.Apply(w.Context(), manifests.Settings{Image: clusterImage, HubURL: "https://hub.example", ClusterID: "any", OpenShift: true})).To(Succeed())
	w.Expect(w.inner.OpenShift(w.Context(), version)).To(Succeed())
}

// startRegistry starts Debian's docker-registry with the release, for those who log in.
func (w *world) startRegistry() {
	w.Helper()
	w.registry = realregistry.Start(w.T)
	_, digest, found := strings.Cut(w.registry.Push(w.T, "mirror/release", realregistry.Release(w.T)), "@")
	w.Expect(found).To(BeTrue())
	w.release = releases + "/release@" + digest
}

// startMachines starts machines without power, and Ironic with their BMCs.
func (w *world) startMachines() {
	w.Helper()
	w.scenarios = generate.Machines(3, generate.Options{Speed: 3})
	var err error
	w.fleet, err = machine.NewFleet(machine.Options{
		Dir: filepath.Join(w.dir, "machines"), BinDir: filepath.Join(w.bin, "lab"), Scenarios: w.scenarios, Fresh: true, Pace: machine.LabPace,
	})
	w.Expect(err).NotTo(HaveOccurred())
	w.Cleanup(func() {
		w.Expect(w.fleet.Close()).To(Succeed())
		w.Expect(w.fleet.Processes()).To(BeEmpty(), "nothing is left of the machines")
	})
	w.lab = labtest.New(w.T)
	user, password := w.fleet.NotifierCredentials()
	_, err = w.lab.StartControlPlane(w.Context(), lab.ControlPlaneOptions{Controllers: true})
	w.Expect(err).NotTo(HaveOccurred())
	_, err = w.lab.StartEmulator(w.Context(), lab.EmulatorOptions{NotifierURL: w.fleet.NotifierURL(), NotifierUser: user, NotifierPassword: password})
	w.Expect(err).NotTo(HaveOccurred())
	_, err = w.lab.StartIronic(w.Context(), lab.IronicOptions{HeartbeatTimeout: heartbeat})
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(w.fleet.Plug(w.Context(), w.lab.Emulator)).To(Succeed())
	w.Client, err = shipped.NewClient(w.lab.ControlPlane.Config())
	w.Expect(err).NotTo(HaveOccurred())
}

// startIronflow starts it as an operator would whose clusters come from openshift-install.
func (w *world) startIronflow() {
	w.Helper()
	iso := filepath.Join(w.dir, "base.iso")
	w.Expect(media.WriteFile(iso, media.Options{})).To(Succeed())
	file := func(name string, content []byte) string {
		path := filepath.Join(w.dir, name)
		w.Expect(os.WriteFile(path, content, 0o600)).To(Succeed())
		return path
	}
	var err error
	w.ironflow, err = shipped.Start(w.Context(), shipped.Options{
		Lab: w.lab, Program: filepath.Join(w.bin, "ironflow"), HostPrograms: filepath.Join(w.bin, "lab"), BaseISO: iso,
		Settings: map[string]string{
			"IRONFLOW_HUB_IGNITION_SOURCE": "openshift-install", "IRONFLOW_HUB_OPENSHIFT_INSTALL": w.installer.Path,
			"IRONFLOW_HUB_CLUSTER_IMAGE": clusterImage, "IRONFLOW_HUB_USER_TOKEN_FILE": file("user-token", []byte(userToken)),
			"IRONFLOW_HUB_RELEASE_MIRRORS": file("mirrors.yaml", w.registry.Mirrors(releases, "mirror")), "IRONFLOW_HUB_RELEASE_CA": file("registry-ca.crt", w.registry.CA),
		},
	})
	w.Expect(err).NotTo(HaveOccurred())
	w.Cleanup(func() { w.Expect(w.ironflow.Stop()).To(Succeed()) })
}

func meta(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: namespace, Name: name} }

// create writes what a user writes: the InfraEnv, one cluster, and for each machine its BMC's Secret and the BareMetalHost.
func (w *world) create() {
	w.Helper()
	set := &hivev1.ClusterImageSet{ObjectMeta: metav1.ObjectMeta{Name: "v4"}, Spec: hivev1.ClusterImageSetSpec{ReleaseImage: w.release}}
	cd := &hivev1.ClusterDeployment{ObjectMeta: meta(cluster)}
	cd.Spec.ClusterName, cd.Spec.BaseDomain = cluster, "lab.example"
	cd.Spec.PullSecretRef = &corev1.LocalObjectReference{Name: pullName}
	cd.Spec.Platform.AgentBareMetal = &hivev1.AgentBareMetalPlatform{}
	cd.Spec.ClusterInstallRef = &hivev1.ClusterInstallReference{Group: hiveextv1.GroupVersion.Group, Version: hiveextv1.GroupVersion.Version, Kind: "AgentClusterInstall", Name: cluster}
	aci := &hiveextv1.AgentClusterInstall{ObjectMeta: meta(cluster)}
	aci.Spec.ClusterDeploymentRef.Name, aci.Spec.ImageSetRef = cluster, &hiveextv1.ClusterImageSetReference{Name: set.Name}
	aci.Spec.ProvisionRequirements.ControlPlaneAgents = len(w.scenarios)
	aci.Spec.APIVIPs, aci.Spec.IngressVIPs = []string{apiVIP}, []string{ingressVIP}
	aci.Spec.Networking.MachineNetwork = []hiveextv1.MachineNetworkEntry{{CIDR: network}}
	objects := []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}},
		&corev1.Secret{ObjectMeta: meta(pullName), Type: corev1.SecretTypeDockerConfigJson, Data: map[string][]byte{
			corev1.DockerConfigJsonKey: []byte(w.registry.PullSecret(realregistry.Password)),
		}},
		set, cd, aci,
		&agentv1.InfraEnv{ObjectMeta: meta(infraEnv), Spec: agentv1.InfraEnvSpec{PullSecretRef: &corev1.LocalObjectReference{Name: pullName}, CpuArchitecture: "x86_64"}},
	}
	for _, s := range w.scenarios {
		objects = append(objects, w.host(s)...)
	}
	for _, o := range objects {
		w.Expect(w.Create(w.Context(), o)).To(Succeed(), o.GetName())
	}
}

// host is a machine as a user knows it.
func (w *world) host(s *scenario.Scenario) []client.Object {
	state, _ := w.fleet.State(s.Name)
	bmc := w.lab.Emulator
	o := meta(s.Name)
	o.Labels = map[string]string{names.InfraEnvLabel: infraEnv}
	o.Annotations = map[string]string{names.BMACRole: "master", names.BMACHostname: s.Name, names.BMACCluster: namespace + "/" + cluster}
	return []client.Object{
		&corev1.Secret{ObjectMeta: meta(s.Name + "-bmc"), StringData: map[string]string{"username": bmc.User, "password": bmc.Password}},
		&metal3v1.BareMetalHost{ObjectMeta: o, Spec: metal3v1.BareMetalHostSpec{
			Online: true, BootMACAddress: strings.ToLower(s.Hardware.NICs[0].MAC), BootMode: metal3v1.UEFI,
			RootDeviceHints:       &metal3v1.RootDeviceHints{SerialNumber: s.Hardware.Disks[0].Serial},
			BMC:                   metal3v1.BMCDetails{Address: bmc.Address(state.UUID), CredentialsName: s.Name + "-bmc", DisableCertificateVerification: true},
			AutomatedCleaningMode: metal3v1.CleaningModeMetadata,
		}},
	}
}

// install is the cluster's AgentClusterInstall as it is now.
func (w *world) install(ctx context.Context) (*hiveextv1.AgentClusterInstall, error) {
	aci := &hiveextv1.AgentClusterInstall{}
	return aci, w.Get(ctx, client.ObjectKey{Namespace: namespace, Name: cluster}, aci)
}
