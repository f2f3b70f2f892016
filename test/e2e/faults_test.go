//go:build e2e

package e2e_test

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/hub/pki"
	labpki "github.com/ironflow/ironflow/test/lab/pki"
)

// fault is something that is wrong in a site, and how `ironflow check` names it.
type fault struct {
	// values are put on top of the site's; CLUSTER_IP in them is the address of Ironflow's Service.
	values string
	// plant changes the site, and mend changes it back.
	plant, mend func(*world)
	// want is how the line of the error, or the warning, begins, also that of another one that comes of the same fault.
	want, also string
	// cause is what the line says of it, where several begin so; next is what to do about it.
	cause, next string
}

var faults = map[string]fault{
	"no Ironic at its address": {
		values: `ironic: {endpoint: "https://192.0.2.11:1"}`,
		want:   "error    ironic        default (https://192.0.2.11:1/v1/): ", cause: "connection refused", next: "nobody listens there",
	},
	"a password that Ironic does not know": {
		plant: func(w *world) { w.password("wrong") }, mend: func(w *world) { w.password(w.lab.Ironic.Password) },
		want: "error    ironic        default (https://192.0.2.11:6385/v1/): ", cause: "HTTP 401", next: "ironic.authSecret",
	},
	"an authority that Ironic's certificate is not of": {
		values: `ironic: {caSecret: other-ca}`, plant: (*world).otherAuthority,
		want: "error    ironic        default (https://192.0.2.11:6385/v1/): ", cause: "unknown authority", next: "ironic.caSecret",
	},
	"a volume without a base image": {
		values: "baseImages: {list: [], volume: {enabled: true, existingClaim: empty}}", plant: func(w *world) { w.claimed("empty", nil, nil) },
		want: "error    base images   there is none in /images",
	},
	"half a base image": {
		values: "baseImages: {list: [], volume: {enabled: true, existingClaim: half}}", plant: (*world).halfAnImage,
		want: "error    base images   broken.x86_64.iso cannot be used",
	},
	"an image of ironic-python-agent that no machine can pull": {
		values: `liveImage: {agentImage: "ipa:latest"}`, want: `error    agent image   "ipa:latest" is no full image reference`,
	},
	"nobody at a published address": {
		values: `exposure: {imagesURL: "http://` + nobodyAddress + `:8080"}`, want: "error    reachable     --images-publish-url http://" + nobodyAddress + ":8080",
		also: "error    outside       default (https://192.0.2.11:6385/v1/) does not reach --images-publish-url http://" + nobodyAddress + ":8080",
	},
	"a published address that only the cluster reaches": {
		values: `exposure: {hubURL: "https://CLUSTER_IP:8090"}`, want: "error    settings      --hub-publish-url", also: "error    reachable     --hub-publish-url",
	},
	"a data folder that cannot be written to": {
		values: "data: {existingClaim: foreign}", plant: (*world).foreignFolder,
		want: "error    data folder   nothing can be written to /var/lib/ironflow",
	},
	"a certificate that has run out": {
		values: "settings: {IRONFLOW_METRICS_CERT_DIR: /old}\nextraVolumes: [{name: old, secret: {secretName: old}}]\nextraVolumeMounts: [{name: old, mountPath: /old}]",
		plant:  (*world).oldCertificate, want: "error    certificates  the certificate of metrics",
	},
	"a role that is not bound": {
		plant: func(w *world) { w.kubectl("delete", "clusterrolebinding", "ironflow-controllers") }, want: "error    rights",
	},
	"baremetal-operator that still runs": {
		plant: (*world).otherOperator, mend: func(w *world) { w.kubectl("delete", "lease", names.OperatorLease) },
		want: "error    other operator default/bmo-0 holds the lease",
	},
	"a definition that helm has left as it was": {
		plant: (*world).olderDefinition,
		mend: func(w *world) {
			w.kubectl("replace", "-f", filepath.Join(chart, "crds", "agent-install", "agent-install.openshift.io_agents.yaml"))
		},
		want: "warning  definitions   agents.agent-install.openshift.io is older than Ironflow's, it lacks spec.role",
	},
	"a definition that somebody deleted": {
		plant: func(w *world) { w.kubectl("delete", "crd", "clusterimagesets.hive.openshift.io") }, want: "error    definitions   the API server does not serve ClusterImageSet",
	},
}

// lasting are those that nobody mends: they come last.
var lasting = []string{"a role that is not bound", "a definition that somebody deleted"}

// check runs the fault's site through `ironflow check`: one error, which is named, with what to do.
func (f fault) check(t *testing.T, site *world, values string) {
	t.Helper()
	w := *site
	w.WithT, w.t = NewWithT(t), t
	if f.plant != nil {
		f.plant(&w)
	}
	if f.mend != nil {
		defer f.mend(&w)
	}
	files := []string{values}
	if f.values != "" {
		files = append(files, w.write("fault.yaml", strings.ReplaceAll(f.values, "CLUSTER_IP", w.clusterIP())))
	}
	var out string
	var code int
	// What was taken from the cluster is gone for its API server a moment later.
	w.Eventually(func() string {
		out, code = w.newPod(w.rendered(files...)).exec("/ironflow", "check")
		return out
	}).WithTimeout(time.Minute).WithPolling(time.Second).Should(ContainSubstring(f.want))
	if strings.HasPrefix(f.want, "warning") {
		w.Expect(code).To(Equal(2), out)
	} else {
		w.Expect(code).To(Equal(3), out)
	}
	w.Expect(out).To(MatchRegexp("next: .*%s", regexp.QuoteMeta(f.next)))
	w.Expect(out).To(MatchRegexp("(?m)^%s.*%s", regexp.QuoteMeta(f.want), regexp.QuoteMeta(f.cause)))
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "error") {
			w.Expect(line).To(Or(HavePrefix(f.want), HavePrefix(cmp.Or(f.also, f.want))), "nothing else is wrong: %s", out)
			t.Log(strings.TrimSpace(line))
		}
	}
}

// password changes what Ironflow calls Ironic with.
func (w *world) password(password string) {
	w.t.Helper()
	w.kubectl("-n", namespace, "patch", "secret", "ironic-auth", "-p", `{"stringData":{"password":"`+password+`"}}`)
}

func (w *world) otherAuthority() {
	w.t.Helper()
	other, err := labpki.New("somebody else")
	w.Expect(err).NotTo(HaveOccurred())
	w.kubectl("-n", namespace, "create", "secret", "generic", "other-ca", "--from-file=tls.crt="+w.write("other.crt", string(other.PEM)))
}

// olderDefinition is that of a release before, which helm never changes.
func (w *world) olderDefinition() {
	w.t.Helper()
	w.kubectl("patch", "crd", "agents.agent-install.openshift.io", "--type=json", "-p",
		`[{"op": "remove", "path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/role"}]`)
}

// claimed makes a claim whose volume has these files.
func (w *world) claimed(name string, annotations map[string]string, files map[string][]byte) {
	w.t.Helper()
	manifest := "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata:\n  name: " + name + "\n  annotations: {note: a test's"
	for key, value := range annotations {
		manifest += ", " + key + `: "` + value + `"`
	}
	manifest += "}\nspec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n"
	w.kubectl("-n", namespace, "create", "-f", w.write(name+".yaml", manifest))
	w.Expect(os.MkdirAll(w.claimFolder(name), 0o755)).To(Succeed())
	for file, content := range files {
		path := filepath.Join(w.claimFolder(name), file)
		w.Expect(os.MkdirAll(filepath.Dir(path), 0o755)).To(Succeed())
		w.Expect(os.WriteFile(path, content, 0o644)).To(Succeed())
	}
}

// foreignFolder has the base image that is there already, but nothing can be added.
func (w *world) foreignFolder() {
	w.t.Helper()
	whole, err := os.ReadFile(w.live)
	w.Expect(err).NotTo(HaveOccurred())
	w.claimed("foreign", map[string]string{foreignVolume: ""}, map[string][]byte{"base/live.x86_64.iso": whole})
}

func (w *world) halfAnImage() {
	w.t.Helper()
	whole, err := os.ReadFile(w.live)
	w.Expect(err).NotTo(HaveOccurred())
	w.claimed("half", nil, map[string][]byte{"whole.x86_64.iso": whole, "broken.x86_64.iso": whole[:len(whole)/2]})
}

func (w *world) oldCertificate() {
	w.t.Helper()
	dir := w.t.TempDir()
	files, err := pki.Ensure(dir, []string{"localhost"}, time.Now().AddDate(-2, 0, 0))
	w.Expect(err).NotTo(HaveOccurred())
	w.kubectl("-n", namespace, "create", "secret", "generic", "old", "--from-file=tls.crt="+files.Cert, "--from-file=tls.key="+files.Key)
}

func (w *world) otherOperator() {
	w.t.Helper()
	now := time.Now().UTC().Format("2006-01-02T15:04:05.000000Z")
	w.kubectl("create", "-f", w.write("lease.yaml", "apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: "+names.OperatorLease+", namespace: default}\n"+
		"spec: {holderIdentity: bmo-0, leaseDurationSeconds: 3600, renewTime: \""+now+"\"}\n"))
}
