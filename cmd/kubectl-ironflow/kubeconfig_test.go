package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	hivev1 "github.com/ironflow/ironflow/api/hive/v1"
	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
)

const someKubeconfig = `kind: Config
apiVersion: v1
clusters: [{name: prod, cluster: {server: "https://api.prod.lab.example:6443"}}]
users: [{name: admin, user: {token: s3cret-token}}]
`

func kubeconfigSecret(data map[string]string) *corev1.Secret {
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "site", Name: "prod-admin-kubeconfig"}, Data: map[string][]byte{}}
	for k, v := range data {
		s.Data[k] = []byte(v)
	}
	return s
}

// withKubeconfig is an installation whose resource names the Secret.
func withKubeconfig(state string) *hiveextv1.AgentClusterInstall {
	aci := prodInstall(state, "Ready", "InstallationCompleted", "The cluster is installed")
	aci.Spec.ClusterMetadata = &hiveextv1.ClusterMetadata{AdminKubeconfigSecretRef: corev1.LocalObjectReference{Name: "prod-admin-kubeconfig"}}
	return aci
}

// unreadable is an API server that lets nobody read Secrets.
type unreadableSecrets struct{ client.Client }

func (u unreadableSecrets) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	if _, is := o.(*corev1.Secret); is {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, key.Name, nil)
	}
	return u.Client.Get(ctx, key, o, opts...)
}

func TestKubeconfig(t *testing.T) {
	good := kubeconfigSecret(map[string]string{"kubeconfig": someKubeconfig})
	foreign := prod()
	foreign.Spec.Installed, foreign.Spec.ClusterMetadata = true, &hivev1.ClusterMetadata{AdminKubeconfigSecretRef: corev1.LocalObjectReference{Name: "prod-admin-kubeconfig"}}
	hostsOnly := prodInstall("adding-hosts", "Ready", "HostsInstalled", "The hosts are installed")
	hostsOnly.Status.Conditions = append(hostsOnly.Status.Conditions, hiveextv1.Condition{Type: "Completed", Status: "False", Reason: "HostsInstalled"})
	notStored := prodInstall("installing", "Stalled", "CredentialsNotStored", "")
	notStored.Status.Conditions[0] = hiveextv1.Condition{
		Type: "SpecSynced", Status: "False", Reason: "CredentialsNotStored", Message: "Ironflow lacks a right. Next: kubectl apply -k config/cluster-credentials",
	}
	early := prodInstall("insufficient", "Reconciling", "ValidationsFailing", "")
	second := withKubeconfig("installed")
	second.Name = "prod"
	second.Spec.ClusterDeploymentRef.Name = "another"
	for name, tc := range map[string]struct {
		objects    []client.Object
		forbidden  bool
		note, says string
	}{
		"installed":                      {objects: []client.Object{prod(), withKubeconfig("adding-hosts"), good}},
		"somebody else has installed it": {objects: []client.Object{foreign, good}},
		"it is being installed":          {objects: []client.Object{prod(), withKubeconfig("installing"), good}, note: "note: cluster prod is installing; its API may not answer yet"},
		"it is not that far":             {objects: []client.Object{prod(), early, good}, says: "cluster prod has no kubeconfig yet: it is insufficient"},
		"no hub has looked at it":        {objects: []client.Object{prod(), prodInstall("", "Reconciling", "", "")}, says: "it is not registered at the hub"},
		"nobody installs it":             {objects: []client.Object{prod(), good}, says: "no AgentClusterInstall of its namespace names it"},
		"there is no cluster on it":      {objects: []client.Object{prod(), hostsOnly}, says: "made no credentials of a cluster"},
		"it cannot be put in a Secret":   {objects: []client.Object{prod(), notStored}, says: "Next: kubectl apply -k config/cluster-credentials"},
		"the Secret is missing":          {objects: []client.Object{prod(), withKubeconfig("installed")}, says: "Secret site/prod-admin-kubeconfig, which cluster prod names, is not there"},
		"the Secret may not be read":     {objects: []client.Object{prod(), withKubeconfig("installed"), good}, forbidden: true, says: "ask for the right to get this Secret"},
		"the Secret is another one":      {objects: []client.Object{prod(), withKubeconfig("installed"), kubeconfigSecret(map[string]string{"password": "s3cret"})}, says: "has no key kubeconfig"},
		"what it has is none": {
			objects: []client.Object{prod(), withKubeconfig("installed"), kubeconfigSecret(map[string]string{"kubeconfig": "s3cret: ["})},
			says:    "is no kubeconfig with a cluster",
		},
		"several clusters match":   {objects: []client.Object{prod(), withKubeconfig("installed"), second, good}, says: "several clusters of namespace site match prod"},
		"there is no such cluster": {says: "no cluster prod in namespace site"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			cl := kube(t, tc.objects...)
			if tc.forbidden {
				cl = unreadableSecrets{cl}
			}
			config, note, err := adminKubeconfig(t.Context(), cl, "site", "prod")
			if tc.says != "" {
				g.Expect(err).To(MatchError(And(ContainSubstring(tc.says), Not(ContainSubstring("s3cret")))))
				g.Expect(config).To(BeEmpty())
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(string(config)).To(Equal(someKubeconfig))
			if tc.note == "" {
				g.Expect(note).To(BeEmpty())
			}
			g.Expect(note).To(ContainSubstring(tc.note))
		})
	}
}

// TestTheKubeconfigsFileIsItsOwnersAlone, also in the place of one that others could read.
func TestTheKubeconfigsFileIsItsOwnersAlone(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "prod.kubeconfig")
	var out bytes.Buffer
	g.Expect(putKubeconfig(&out, []byte(someKubeconfig), "", false)).To(Succeed())
	g.Expect(out.String()).To(Equal(someKubeconfig))
	out.Reset()

	narrow := func() {
		info, err := os.Stat(file)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(info.Mode().Perm()).To(BeEquivalentTo(0o600))
		g.Expect(os.ReadFile(file)).To(BeEquivalentTo(someKubeconfig))
	}
	g.Expect(putKubeconfig(&out, []byte(someKubeconfig), file, false)).To(Succeed())
	narrow()
	g.Expect(os.WriteFile(file, []byte("of another cluster"), 0o600)).To(Succeed())
	g.Expect(os.Chmod(file, 0o644)).To(Succeed())
	g.Expect(putKubeconfig(&out, []byte(someKubeconfig), file, false)).To(MatchError(ContainSubstring("is there already")))
	g.Expect(os.ReadFile(file)).To(BeEquivalentTo("of another cluster"))
	g.Expect(putKubeconfig(&out, []byte(someKubeconfig), file, true)).To(Succeed())
	narrow()
	g.Expect(putKubeconfig(&out, []byte(someKubeconfig), filepath.Join(dir, "none", "x"), false)).To(MatchError(ContainSubstring("no such file")))
	g.Expect(os.ReadDir(dir)).To(HaveLen(1), "nothing is left beside it")
	g.Expect(out.String()).To(BeEmpty())
}
