package admission_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
	"github.com/ironflow/ironflow/config"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/labtest"
	"github.com/ironflow/ironflow/tools/admission"
)

// patience is how long a policy may take to be in force.
const patience = time.Minute

// TestEveryRuleHasCases fails when a rule is added without objects that keep and
// that break it.
func TestEveryRuleHasCases(t *testing.T) {
	for _, k := range admission.Kinds() {
		known := map[string]bool{}
		for _, r := range k.Rules {
			t.Run(k.Kind+"/"+r.Name, func(t *testing.T) {
				g := NewWithT(t)
				g.Expect(known[r.Name]).To(BeFalse(), "two rules of this name")
				known[r.Name] = true
				if r.Change == "" {
					c := cases[k.Kind][r.Name]
					g.Expect(c.good).NotTo(BeEmpty(), "an object that keeps the rule")
					g.Expect(c.bad).NotTo(BeEmpty(), "an object that breaks it")
					return
				}
				answers := map[bool]int{}
				for _, c := range changes[k.Kind][r.Name] {
					answers[c.ok]++
				}
				g.Expect(answers).To(And(HaveKey(true), HaveKey(false)), "updates that keep and that break the rule")
			})
		}
		for name := range cases[k.Kind] {
			NewWithT(t).Expect(known).To(HaveKey(name), "cases without a rule")
		}
	}
}

// TestTheAPIServerRefuses asks a real kube-apiserver about every case.
func TestTheAPIServerRefuses(t *testing.T) {
	w := newWorld(t)
	w.storeAll() // before the policies: some break them
	w.enforce()
	for _, k := range admission.Kinds() {
		for _, r := range k.Rules {
			for i, bad := range cases[k.Kind][r.Name].bad {
				w.badObject(t, k, r, i, bad)
			}
			for i, good := range cases[k.Kind][r.Name].good {
				t.Run(fmt.Sprintf("%s/%s/good %d", k.Kind, r.Name, i), func(t *testing.T) {
					o := base(k.Kind, "new")
					good(o)
					NewWithT(t).Expect(w.kube.Create(t.Context(), o, client.DryRunAll)).To(Succeed())
				})
			}
			for i, c := range changes[k.Kind][r.Name] {
				t.Run(k.Kind+"/"+r.Name+"/"+c.what, func(t *testing.T) {
					refusal := BeNil()
					if !c.ok {
						refusal = MatchError(ContainSubstring(r.Message))
					}
					NewWithT(t).Expect(w.update(t.Context(), k, storedName(k, r, "change", i), c.edit)).To(refusal)
				})
			}
		}
		t.Run(k.Kind+"/an object that is being deleted is let go", func(t *testing.T) {
			bad := badOf(k)
			if bad == nil || schemaKeeps(k.Kind) {
				bad = all()
			}
			NewWithT(t).Expect(w.update(t.Context(), k, leaving(k), all(bad, func(o client.Object) { o.SetName(leaving(k)); o.SetFinalizers(nil) }))).To(Succeed())
		})
	}
}

// badObject tries to create it, to make it of a good one, and to edit one that
// was stored before the rule was in force.
func (w *world) badObject(t *testing.T, k admission.Kind, r admission.Rule, i int, bad edit) {
	refused := And(Satisfy(apierrors.IsInvalid), MatchError(ContainSubstring(r.Message)))
	t.Run(fmt.Sprintf("%s/%s/bad %d", k.Kind, r.Name, i), func(t *testing.T) {
		g := NewWithT(t)
		o := base(k.Kind, "new")
		bad(o)
		g.Expect(w.kube.Create(t.Context(), o, client.DryRunAll)).To(refused)
		if o.GetName() != "new" {
			return // the rule is about the name, which no update changes
		}
		if r.Create != "" {
			g.Expect(w.update(t.Context(), k, storedName(k, r, "good", 0), bad)).To(Succeed(), "it may become so")
			return
		}
		if k.Kind != "BMCEventSubscription" && !schemaKeeps(k.Kind) { // no edit of its spec gets this far
			g.Expect(w.update(t.Context(), k, storedName(k, r, "good", 0), bad)).To(refused)
		}
		label := func(o client.Object) { o.SetLabels(map[string]string{"a": "b"}) }
		g.Expect(w.update(t.Context(), k, storedName(k, r, "bad", i), label)).To(Succeed(), "what was wrong before may stay")
	})
}

// world is a kube-apiserver with the schemas.
type world struct {
	*WithT
	t     *testing.T
	kube  client.Client
	plane *lab.ControlPlane
}

func newWorld(t *testing.T) *world {
	t.Helper()
	ctrl.SetLogger(logr.Discard())
	w := &world{WithT: NewWithT(t), t: t, plane: labtest.ControlPlane(t, lab.ControlPlaneOptions{})}
	_, err := envtest.InstallCRDs(w.plane.Config(), envtest.CRDInstallOptions{
		Paths: []string{"../../config/crd/metal3", "../../config/crd/agent-install", "../../config/crd/hive"}, ErrorIfPathMissing: true,
	})
	w.Expect(err).NotTo(HaveOccurred())
	scheme := runtime.NewScheme()
	w.Expect(clientgoscheme.AddToScheme(scheme)).To(Succeed())
	w.Expect(metal3.AddToScheme(scheme)).To(Succeed())
	w.Expect(agentv1.AddToScheme(scheme)).To(Succeed())
	w.Expect(hiveextv1.AddToScheme(scheme)).To(Succeed())
	w.kube, err = client.New(w.plane.Config(), client.Options{Scheme: scheme})
	w.Expect(err).NotTo(HaveOccurred())
	return w
}

func storedName(k admission.Kind, r admission.Rule, what string, i int) string {
	return strings.ToLower(strings.ReplaceAll(fmt.Sprintf("%s-%s-%d", r.Name, what, i), " ", "-"))
}

func leaving(k admission.Kind) string { return "leaving-" + k.Resource }

// storeAll creates what the updates begin with.
func (w *world) storeAll() {
	w.t.Helper()
	for _, k := range admission.Kinds() {
		for _, r := range k.Rules {
			for i, bad := range cases[k.Kind][r.Name].bad {
				w.store(k, storedName(k, r, "bad", i), bad)
			}
			good := all()
			if r.Create != "" {
				good = cases[k.Kind][r.Name].good[0] // its schema may keep it from becoming a bad one of another
			}
			w.store(k, storedName(k, r, "good", 0), good)
			for i, c := range changes[k.Kind][r.Name] {
				w.store(k, storedName(k, r, "change", i), c.stored)
			}
		}
		w.store(k, leaving(k), func(o client.Object) { o.SetFinalizers([]string{"example.com/test"}) })
		o := base(k.Kind, leaving(k))
		w.Expect(w.kube.Delete(w.t.Context(), o)).To(Succeed())
	}
}

// store creates an object, with its status where the edit sets one.
func (w *world) store(k admission.Kind, name string, change edit) {
	w.t.Helper()
	o := base(k.Kind, name)
	change(o)
	if o.GetName() != name {
		return
	}
	status := reflect.Indirect(reflect.ValueOf(o)).FieldByName("Status") // NMStateConfig has none
	var given reflect.Value
	if status.IsValid() {
		given = reflect.ValueOf(o.DeepCopyObject()).Elem().FieldByName("Status")
	}
	w.Expect(w.kube.Create(w.t.Context(), o)).To(Succeed(), "%s %s", k.Kind, name)
	if status.IsValid() && !given.IsZero() {
		status.Set(given)
		w.Expect(w.kube.Status().Update(w.t.Context(), o)).To(Succeed())
	}
}

// update edits a stored object, without storing the result.
func (w *world) update(ctx context.Context, k admission.Kind, name string, change edit) error {
	o := base(k.Kind, name)
	if err := w.kube.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
		return err
	}
	change(o)
	return w.kube.Update(ctx, o, client.DryRunAll)
}

// enforce applies the manifests and waits until each policy refuses something.
func (w *world) enforce() {
	w.t.Helper()
	w.Expect(lab.InstallAdmission(w.t.Context(), w.plane.Config())).To(Succeed())
	policies, _, err := config.Admission()
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(policies).To(HaveLen(len(admission.Kinds())))
	for _, k := range admission.Kinds() {
		w.inForce(k)
	}
}

// inForce waits until the policy of the kind refuses something.
func (w *world) inForce(k admission.Kind) {
	w.t.Helper()
	w.Eventually(func() error { return w.breakOne(k) }, patience, 100*time.Millisecond).Should(MatchError(ContainSubstring("ValidatingAdmissionPolicy")))
}

// schemaKeeps tells of the kinds whose schema refuses the edits that would break a rule.
func schemaKeeps(kind string) bool { return kind == "AgentClassification" || kind == "InfraEnv" }

// breakOne breaks a rule of the kind.
func (w *world) breakOne(k admission.Kind) error {
	if bad := badOf(k); bad != nil {
		o := base(k.Kind, "new")
		bad(o)
		return w.kube.Create(w.t.Context(), o, client.DryRunAll)
	}
	r := k.Rules[0] // all are about changes
	i := slices.IndexFunc(changes[k.Kind][r.Name], func(c changeCase) bool { return !c.ok })
	return w.update(w.t.Context(), k, storedName(k, r, "change", i), changes[k.Kind][r.Name][i].edit)
}

// badOf makes an object of the kind that breaks a rule; nil where all rules are about changes.
func badOf(k admission.Kind) edit {
	for _, r := range k.Rules {
		if bad := cases[k.Kind][r.Name].bad; len(bad) > 0 {
			return bad[0]
		}
	}
	return nil
}
