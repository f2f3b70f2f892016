package host

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

// otherSecret makes a Secret that is no BMC's until somebody says so.
func (w *world) otherSecret(data map[string]string) {
	w.t.Helper()
	w.g.Expect(w.kube.Create(w.t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: lab.Namespace, Name: "other"}, Data: bytesOf(data)})).To(Succeed())
}

func bytesOf(data map[string]string) map[string][]byte {
	raw := map[string][]byte{}
	for key, value := range data {
		raw[key] = []byte(value)
	}
	return raw
}

// readSecret reads it as it is stored.
func (w *world) readSecret(name string) *corev1.Secret {
	w.t.Helper()
	secret := &corev1.Secret{}
	w.g.Expect(w.kube.Get(w.t.Context(), client.ObjectKey{Namespace: lab.Namespace, Name: name}, secret)).To(Succeed())
	return secret
}

// TestASecretThatWasNamedByMistakeIsLetGoOf once the spec names another, and at the latest
// when its host goes, which garbage collection must not let it go with. The mistake is
// seen, or it is mended before anybody has seen it.
func TestASecretThatWasNamedByMistakeIsLetGoOf(t *testing.T) {
	for name, c := range map[string]struct {
		data map[string]string
		down bool
	}{
		"no credentials":                     {data: map[string]string{"dsn": "x"}},
		"credentials that nobody has tried":  {data: map[string]string{"username": "app", "password": "x"}, down: true},
		"credentials that the BMC has tried": {data: map[string]string{"username": "app", "password": "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, simulator.Options{}, policy.Settings{}, func(h *metal3.BareMetalHost) {
					h.Spec.BMC.CredentialsName = "other"
				})
				defer func() { w.stop() }()
				if c.down {
					w.sim.Intercept(func(*http.Request) *simulator.Fault { return &simulator.Fault{Status: http.StatusServiceUnavailable} })
				}
				w.otherSecret(c.data)
				let(2 * time.Minute)
				w.edit(func(h *metal3.BareMetalHost) { h.Spec.BMC.CredentialsName = "bmc" })
				w.sim.Intercept(nil)
				w.untilAtRest()
				w.g.Expect(w.readSecret("other").OwnerReferences).To(BeEmpty(), "while the host lives")
				w.g.Expect(w.readSecret("other").Finalizers).To(BeEmpty())
				w.g.Expect(w.readSecret("bmc").OwnerReferences).To(HaveLen(1))
				w.g.Expect(w.kube.Delete(t.Context(), w.host())).To(Succeed())
				let(5 * time.Minute)
				w.g.Expect(w.host()).To(BeNil())
				w.g.Expect(w.readSecret("other").OwnerReferences).To(BeEmpty(), "garbage collection takes it with its last owner")
				w.g.Expect(w.readSecret("other").Finalizers).To(BeEmpty(), "nobody takes this away")
			})
		})
	}
}

// TestASecretWithoutCredentialsDoesNotGoWithItsHost deletes a host that still names it.
func TestASecretWithoutCredentialsDoesNotGoWithItsHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, simulator.Options{}, policy.Settings{}, func(h *metal3.BareMetalHost) { h.Spec.BMC.CredentialsName = "other" })
		defer func() { w.stop() }()
		w.otherSecret(map[string]string{"dsn": "x"})
		w.until("told", time.Minute, func(h *metal3.BareMetalHost) bool {
			return strings.Contains(h.Status.ErrorMessage, "needs the keys username and password")
		})
		w.g.Expect(w.readSecret("other").OwnerReferences).To(BeEmpty())
		w.g.Expect(w.kube.Delete(t.Context(), w.host())).To(Succeed())
		let(5 * time.Minute)
		w.g.Expect(w.host()).To(BeNil())
		w.g.Expect(w.readSecret("other").OwnerReferences).To(BeEmpty())
		w.g.Expect(w.readSecret("other").Finalizers).To(BeEmpty())
	})
}

// TestASecretThatLosesItsCredentialsForAWhileStaysTheHosts: it was the BMC's, and is no mistake.
func TestASecretThatLosesItsCredentialsForAWhileStaysTheHosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, simulator.Options{}, policy.Settings{}, nil)
		defer func() { w.stop() }()
		w.untilAtRest()
		secret := w.readSecret("bmc")
		secret.Data["password"] = nil
		w.g.Expect(w.kube.Update(t.Context(), secret)).To(Succeed())
		let(time.Minute)
		w.g.Expect(w.host().Status.ErrorType).To(Equal(metal3.RegistrationError))
		w.g.Expect(w.readSecret("bmc").OwnerReferences).To(HaveLen(1))
		w.g.Expect(w.readSecret("bmc").Finalizers).To(HaveLen(1))
	})
}

// TestASecretThatIsBeingDeletedServesAsLongAsItIsThere: somebody else holds it, and no
// finalizer may be added to it any more.
func TestASecretThatIsBeingDeletedServesAsLongAsItIsThere(t *testing.T) {
	for name, labels := range map[string]map[string]string{
		"known": {names.EnvironmentLabel: names.EnvironmentValue}, "not known": nil,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, simulator.Options{}, policy.Settings{}, func(h *metal3.BareMetalHost) { h.Spec.BMC.CredentialsName = "none" })
				defer func() { w.stop() }()
				w.otherSecret(map[string]string{"username": "admin", "password": "x"})
				secret := w.readSecret("other")
				secret.Labels, secret.Finalizers = labels, []string{"example.com/hold"}
				w.g.Expect(w.kube.Update(t.Context(), secret)).To(Succeed())
				w.g.Expect(w.kube.Delete(t.Context(), secret)).To(Succeed())
				let(time.Second)
				w.edit(func(h *metal3.BareMetalHost) { h.Spec.BMC.CredentialsName = "other" })
				w.untilState(metal3.StateAvailable, 5*time.Minute)
				w.g.Expect(w.readSecret("other").Finalizers).To(ConsistOf("example.com/hold"))
			})
		})
	}
}

// TestASecretOfAnotherNamespaceIsNotTakenForOneOfTheHosts: the host's namespace may have one
// of the same name, with what is meant for another machine.
func TestASecretOfAnotherNamespaceIsNotTakenForOneOfTheHosts(t *testing.T) {
	for key, name := range map[string]func(*metal3.BareMetalHost, *corev1.SecretReference){
		"userData":    func(h *metal3.BareMetalHost, r *corev1.SecretReference) { h.Spec.UserData = r },
		"networkData": func(h *metal3.BareMetalHost, r *corev1.SecretReference) { h.Spec.NetworkData = r },
		"metaData":    func(h *metal3.BareMetalHost, r *corev1.SecretReference) { h.Spec.MetaData = r },
	} {
		t.Run(key, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, simulator.Options{}, policy.Settings{}, func(h *metal3.BareMetalHost) {
					osImage(h)
					name(h, &corev1.SecretReference{Name: "other", Namespace: "elsewhere"})
				})
				defer func() { w.stop() }()
				w.otherSecret(map[string]string{key: "{}"})
				w.until("refused", 5*time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.ErrorType == metal3.ProvisioningError })
				w.g.Expect(w.host().Status.ErrorMessage).To(And(ContainSubstring("elsewhere"), ContainSubstring(key)))
				w.edit(func(h *metal3.BareMetalHost) {
					name(h, &corev1.SecretReference{Name: "other", Namespace: lab.Namespace})
				})
				w.untilState(metal3.StateProvisioned, 5*time.Minute)
			})
		})
	}
}
