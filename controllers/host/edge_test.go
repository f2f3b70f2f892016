package host

import (
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/ironic"
)

// TestForce: what Ironic does to a machine is ended when an annotation says so.
func TestForce(t *testing.T) {
	annotate := func(key, value string) func(*Observed) {
		return func(o *Observed) { metav1.SetMetaDataAnnotation(&o.Host.ObjectMeta, key, value) }
	}
	forced := `{"mode":"hard","force":true}`
	marked := func(since time.Time) func(*Observed) {
		return func(o *Observed) {
			annotate(names.Rebooting, mark{Hard: true, Since: since, State: o.Node.ProvisionState}.value())(o)
		}
	}
	install := func(o *Observed) { wantInstall(o.Host); settled(o) }
	deleting := func(o *Observed) { now := metav1.NewTime(noon); o.Host.DeletionTimestamp = &now }
	for name, c := range map[string]struct {
		state State
		node  ironic.ProvisionState
		given []func(*Observed)
		do    string
		drop  []string
		says  string
	}{
		"reboot of an inspection":              {metal3.StateInspecting, ironic.StateInspectWait, []func(*Observed){annotate(names.Reboot, forced)}, "announce restart", nil, ""},
		"reboot of an inspection, announced":   {metal3.StateInspecting, ironic.StateInspectWait, []func(*Observed){marked(noon)}, "ask for abort", []string{names.Rebooting}, ""},
		"reboot of an inspection, carried out": {metal3.StateInspecting, ironic.StateInspectWait, []func(*Observed){marked(noon.Add(-time.Minute))}, "", []string{names.Rebooting}, ""},
		"reboot without force":                 {metal3.StateInspecting, ironic.StateInspectWait, []func(*Observed){annotate(names.Reboot, "")}, "", nil, "inspecting the hardware"},
		"reboot while the conductor works":     {metal3.StateInspecting, ironic.StateInspecting, []func(*Observed){annotate(names.Reboot, forced)}, "", nil, "inspecting the hardware"},
		"reboot of a deployment":               {metal3.StateProvisioning, ironic.StateDeployWait, []func(*Observed){install, annotate(names.Reboot+"/me", forced)}, "announce restart", nil, ""},
		"reboot of a deployment, announced":    {metal3.StateProvisioning, ironic.StateDeployWait, []func(*Observed){install, marked(noon)}, "ask for deleted", []string{names.Rebooting}, ""},
		"reboot of a deployment, glimpsed":     {metal3.StateProvisioning, ironic.StateDeployWait, []func(*Observed){install, annotate(names.Reboot, forced), func(o *Observed) { o.Sight = Glimpsed }}, "read node", nil, ""},
		"detach waits for the end":             {metal3.StateProvisioning, ironic.StateDeployWait, []func(*Observed){install, annotate(names.Detached, "")}, "", nil, "starting the deployment"},
		"detach by force, deployment":          {metal3.StateProvisioning, ironic.StateDeployWait, []func(*Observed){install, annotate(names.Detached, `{"force":true}`)}, "ask for abort", nil, ""},
		"detach by force, old Ironic":          {metal3.StateProvisioning, ironic.StateDeployWait, []func(*Observed){install, annotate(names.Detached, `{"force":true}`), func(o *Observed) { o.AbortRefused = true }}, "ask for deleted", nil, ""},
		"detach by force, inspection":          {metal3.StateInspecting, ironic.StateInspectWait, []func(*Observed){annotate(names.Detached, `{"force":true}`)}, "ask for abort", nil, ""},
		"detach by force, aborted":             {metal3.StateInspecting, ironic.StateInspectFailed, []func(*Observed){annotate(names.Detached, `{"force":true}`)}, "set maintenance", nil, ""},
		"detach by force, conductor works":     {metal3.StateProvisioning, ironic.StateDeploying, []func(*Observed){install, annotate(names.Detached, `{"force":true}`)}, "", nil, "waiting to remove the node"},
		"detach, value that is not JSON":       {metal3.StateInspecting, ironic.StateInspectWait, []func(*Observed){annotate(names.Detached, `please`)}, "", nil, "inspecting the hardware"},
		"power-off ends an inspection":         {metal3.StatePoweringOffBeforeDelete, ironic.StateInspectWait, []func(*Observed){deleting}, "ask for abort", nil, ""},
		"power-off after an inspection":        {metal3.StatePoweringOffBeforeDelete, ironic.StateInspectFailed, []func(*Observed){deleting}, "ask for manage", nil, ""},
		"power-off ends manual cleaning":       {metal3.StatePoweringOffBeforeDelete, ironic.StateCleanWait, []func(*Observed){deleting, func(o *Observed) { o.Node.TargetProvisionState = ironic.StateManageable }}, "ask for abort", nil, ""},
		"power-off lets a machine be cleaned":  {metal3.StatePoweringOffBeforeDelete, ironic.StateCleanWait, []func(*Observed){deleting, func(o *Observed) { o.Node.TargetProvisionState = ironic.StateAvailable }}, "", nil, "clean wait"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := observed(c.state, c.node)
			for _, change := range c.given {
				change(o)
			}
			d := decide(o)
			did := ""
			if d.Do != nil {
				did = d.Do.Name()
			}
			g.Expect(did).To(Equal(c.do))
			g.Expect(d.DropAnnotations).To(Equal(c.drop))
			g.Expect(d.Wait.Message()).To(ContainSubstring(c.says))
		})
	}
}

func TestDeletionWaitsForTheAttachment(t *testing.T) {
	g := NewWithT(t)
	o := observed(metal3.StateProvisioned, ironic.StateActive)
	now := metav1.NewTime(noon)
	o.Host.DeletionTimestamp = &now
	o.Host.Status.OperationalStatus = metal3.OperationalStatusDetached
	d := decide(o)
	g.Expect(d.Status.OperationalStatus).To(Equal(metal3.OperationalStatusOK), "the annotation is gone: it is attached, then given back")
	o.Host.Status = d.Status
	g.Expect(decide(o).Status.Provisioning.State).To(Equal(metal3.StateDeprovisioning))
}

func TestDeploymentThatIsNoLongerAskedFor(t *testing.T) {
	g := NewWithT(t)
	o := observed(metal3.StateProvisioning, ironic.StateDeployFailed)
	o.Host.Spec.Image = &metal3.Image{URL: "http://new", Checksum: "x"}
	o.Node.InstanceInfo = map[string]any{keyImageSource: "http://old"}
	o.Node.LastError = "no such image"
	settled(o)
	d := decide(o)
	g.Expect(d.Status.Provisioning.State).To(Equal(metal3.StateDeprovisioning))
	g.Expect(d.Status.ErrorType).To(BeEmpty(), "the mistake is corrected already")
	o.Node.InstanceInfo = map[string]any{keyImageSource: "http://new"}
	g.Expect(decide(o).Status.ErrorType).To(Equal(metal3.ProvisioningError))
}

func TestHardwareFromOutside(t *testing.T) {
	known := &metal3.HardwareDetails{Hostname: "known"}
	for name, c := range map[string]struct {
		annotation string
		disabled   bool
		data, have *metal3.HardwareDetails
		do, event  string
		want       *metal3.HardwareDetails
		dropped    bool
	}{
		"nothing":                             {},
		"HardwareData":                        {data: known, event: "UpdateHardwareDetails", want: known},
		"HardwareData is older than a status": {data: known, have: &metal3.HardwareDetails{Hostname: "x"}, want: &metal3.HardwareDetails{Hostname: "x"}},
		"the annotation":                      {annotation: `{"hostname":"known"}`, do: "save hardware data", event: "UpdateHardwareDetails", want: known, dropped: true},
		"the annotation, misspelt":            {annotation: `{"hostnam":"known"}`, event: "InvalidAnnotationValue", dropped: true},
		"the annotation, known hardware":      {annotation: `{"hostname":"other"}`, have: known, event: "RemoveAnnotation", want: known, dropped: true},
		"the annotation, no inspection":       {annotation: `{"hostname":"known"}`, disabled: true, have: &metal3.HardwareDetails{Hostname: "x"}, do: "save hardware data", event: "UpdateHardwareDetails", want: known, dropped: true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := observed(metal3.StateAvailable, ironic.StateManageable)
			if c.annotation != "" {
				o.Host.Annotations = map[string]string{names.HardwareDetails: c.annotation}
			}
			if c.disabled {
				o.Host.Spec.InspectionMode = metal3.InspectionModeDisabled
			}
			o.Hardware, o.Host.Status.HardwareDetails = c.data, c.have
			d := decideWith(o)
			concernHardware(o, d)
			did := ""
			if d.Do != nil {
				did = d.Do.Name()
			}
			g.Expect(did).To(Equal(c.do))
			g.Expect(d.Status.HardwareDetails).To(Equal(c.want))
			g.Expect(len(d.DropAnnotations) > 0).To(Equal(c.dropped))
			if c.event != "" {
				g.Expect(d.Events).To(ConsistOf(HaveField("Reason", c.event)))
			}
		})
	}
}

func TestPullSecrets(t *testing.T) {
	const image = "oci://quay.example:5000/os/image:latest"
	for name, c := range map[string]struct {
		kind   corev1.SecretType
		raw    string
		image  string
		value  string
		says   string
		reason string
	}{
		"user and password":      {kind: corev1.SecretTypeDockerConfigJson, raw: `{"auths":{"quay.example:5000":{"username":"u","password":"p"}}}`, value: "u:p"},
		"base64":                 {kind: corev1.SecretTypeDockerConfigJson, raw: `{"auths":{"https://quay.example:5000/v2/":{"auth":"dTpwOnA="}}}`, value: "u:p:p"},
		"old format":             {kind: corev1.SecretTypeDockercfg, raw: `{"quay.example:5000":{"auth":"dTpw"}}`, value: "u:p"},
		"Docker Hub's alias":     {kind: corev1.SecretTypeDockerConfigJson, raw: `{"auths":{"https://index.docker.io/v1/":{"auth":"dTpw"}}}`, image: "oci://docker.io/library/x", value: "u:p"},
		"another registry":       {kind: corev1.SecretTypeDockerConfigJson, raw: `{"auths":{"quay.example":{"auth":"dTpw"}}}`, says: "no entry"},
		"another type":           {kind: corev1.SecretTypeOpaque, raw: `{}`, says: "must be", reason: reasonAuthFormat},
		"no JSON":                {kind: corev1.SecretTypeDockerConfigJson, raw: `hush`, says: "no Docker configuration", reason: reasonAuthParse},
		"auth that is no base64": {kind: corev1.SecretTypeDockerConfigJson, raw: `{"auths":{"quay.example:5000":{"auth":"?"}}}`, says: "base64", reason: reasonAuthParse},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			if c.image == "" {
				c.image = image
			}
			got := readPullSecret(&corev1.Secret{Type: c.kind, Data: map[string][]byte{
				corev1.DockerConfigJsonKey: []byte(c.raw), corev1.DockerConfigKey: []byte(c.raw),
			}}, c.image)
			g.Expect(got.Value).To(Equal(c.value))
			g.Expect(got.Problem).To(ContainSubstring(c.says))
			g.Expect(got.Problem).NotTo(ContainSubstring("hush"))
			g.Expect(got.Reason).To(Equal(c.reason))
		})
	}
}

func TestPullSecretReachesTheNode(t *testing.T) {
	g := NewWithT(t)
	o := observed(metal3.StateProvisioning, ironic.StateAvailable)
	o.Host.Spec.Image = &metal3.Image{URL: "oci://quay.example/os", OCIAuthSecretName: new("pull")}
	g.Expect(decide(o).Do).To(Equal(ReadPullSecret{}))
	o.PullSecret = &PullSecret{Value: "u:p"}
	update, ok := decide(o).Do.(Update)
	g.Expect(ok).To(BeTrue())
	g.Expect(update.Desired.InstanceInfo).To(And(HaveKeyWithValue(keyPullSecret, "u:p"), HaveKeyWithValue(keyImageSource, "oci://quay.example/os"), HaveKeyWithValue(keyChecksum, ironic.Remove)))
	o.PullSecret = &PullSecret{Problem: "no such Secret", Reason: reasonAuthFormat}
	d := decide(o)
	g.Expect(d.Status.ErrorType).To(Equal(metal3.ProvisioningError))
	g.Expect(d.Events).To(ContainElement(HaveField("Reason", reasonAuthFormat)))
}

func TestConfigDrive(t *testing.T) {
	ref := func(name string) *corev1.SecretReference {
		return &corev1.SecretReference{Name: name, Namespace: "lab"}
	}
	secret := func(name string, data map[string]string) client.Object {
		s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: name}, Data: map[string][]byte{}}
		for key, value := range data {
			s.Data[key] = []byte(value)
		}
		return s
	}
	for name, c := range map[string]struct {
		change func(*metal3.BareMetalHostSpec)
		want   map[string]any // members of the value besides meta_data
		meta   map[string]any // members of meta_data besides the host's own
		says   string
	}{
		"nothing but meta data":      {change: func(*metal3.BareMetalHostSpec) {}},
		"user data":                  {change: func(s *metal3.BareMetalHostSpec) { s.UserData = ref("user") }, want: map[string]any{"user_data": "#!"}},
		"user data under value":      {change: func(s *metal3.BareMetalHostSpec) { s.UserData = ref("value") }, want: map[string]any{"user_data": "v"}},
		"network data, YAML":         {change: func(s *metal3.BareMetalHostSpec) { s.NetworkData = ref("net") }, want: map[string]any{"network_data": map[string]any{"links": []any{}}}},
		"network data of the image":  {change: func(s *metal3.BareMetalHostSpec) { s.PreprovisioningNetworkDataName = "net" }, want: map[string]any{"network_data": map[string]any{"links": []any{}}}},
		"network data without a key": {change: func(s *metal3.BareMetalHostSpec) { s.NetworkData = ref("user") }},
		"meta data":                  {change: func(s *metal3.BareMetalHostSpec) { s.MetaData = ref("meta") }, meta: map[string]any{"rack": "7"}},
		"no such Secret":             {change: func(s *metal3.BareMetalHostSpec) { s.UserData = ref("ghost") }, says: "does not exist"},
		"user data without a key":    {change: func(s *metal3.BareMetalHostSpec) { s.UserData = ref("net") }, says: "neither the key userData nor value"},
		"meta data that is no YAML":  {change: func(s *metal3.BareMetalHostSpec) { s.MetaData = ref("value") }, says: "meta data cannot be used"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			h := observed(metal3.StateProvisioning, ironic.StateAvailable).Host
			c.change(&h.Spec)
			kube := fake.NewClientBuilder().WithObjects(secret("user", map[string]string{"userData": "#!"}), secret("value", map[string]string{"value": "v"}),
				secret("net", map[string]string{"networkData": "links: []"}), secret("meta", map[string]string{"metaData": `{"rack":"7"}`})).Build()
			drive, err := secrets{client: kube, live: kube}.configDrive(t.Context(), h)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(drive.Problem).To(ContainSubstring(c.says))
			if c.says != "" {
				return
			}
			value := drive.Value()
			g.Expect(value["meta_data"]).To(And(HaveKeyWithValue("uuid", "uid-a"), HaveKeyWithValue("local-hostname", "a"), HaveKeyWithValue("metal3-namespace", "lab")))
			for key, want := range c.meta {
				g.Expect(value["meta_data"]).To(HaveKeyWithValue(key, want))
			}
			delete(value, "meta_data")
			if c.want == nil {
				c.want = map[string]any{}
			}
			g.Expect(value).To(Equal(c.want))
		})
	}
}

func TestDeployInterfaceFollowsTheWish(t *testing.T) {
	for name, c := range map[string]struct {
		have   string
		change func(*metal3.BareMetalHost)
		want   string
	}{
		"image after a live ISO":       {"ramdisk", func(h *metal3.BareMetalHost) { h.Spec.Image = &metal3.Image{URL: "u"} }, "direct"},
		"image after a custom method":  {"custom-agent", func(h *metal3.BareMetalHost) { h.Spec.Image = &metal3.Image{URL: "u"} }, "direct"},
		"image with a site's own":      {"ansible", func(h *metal3.BareMetalHost) { h.Spec.Image = &metal3.Image{URL: "u"} }, ""},
		"custom method after an image": {"direct", wantInstall, "custom-agent"},
		"live ISO after an image":      {"direct", func(h *metal3.BareMetalHost) { h.Spec.Image = &metal3.Image{URL: "u", DiskFormat: new("live-iso")} }, "ramdisk"},
	} {
		t.Run(name, func(t *testing.T) {
			o := observed(metal3.StateProvisioning, ironic.StateAvailable)
			o.Node.Interfaces.Deploy = c.have
			c.change(o.Host)
			NewWithT(t).Expect(desired(o).Interfaces.Deploy).To(Equal(c.want))
		})
	}
}

func TestOrdersKeepTheirNumbers(t *testing.T) {
	g := NewWithT(t)
	w := order{Since: noon, Settings: map[string]any{"Limit": 12000000, "Mode": "x"}}
	read := orderOf(&ironic.Node{Extra: map[string]any{keyOrder: w.value()}})
	g.Expect(read.same(&w)).To(BeTrue())
	g.Expect(ignored(read.Settings, w.Settings)).To(Equal("Limit=12000000, Mode=x"))
	g.Expect(orderOf(&ironic.Node{Extra: map[string]any{keyOrder: "by hand"}}).Failed).To(BeTrue(), "what cannot be read is unsure")
}
