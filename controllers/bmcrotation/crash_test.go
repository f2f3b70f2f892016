package bmcrotation

import (
	"context"
	crand "crypto/rand"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	ctrl "sigs.k8s.io/controller-runtime"
	kclient "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/credentials"
	"github.com/ironflow/ironflow/bmc/credentials/password"
	"github.com/ironflow/ironflow/bmc/credentials/reason"
	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/test/bmc/simulator"
	"github.com/ironflow/ironflow/test/bmc/simulator/accounts"
	"github.com/ironflow/ironflow/test/kubeapi"
)

// errKilled is what a program sees that is no more.
var errKilled = errors.New("killed")

// mortal is the reconciler of the shipped controller over the API, the simulated BMC and
// an Ironic. It dies before or after one of the things that it does there; from then on
// nothing of it reaches anybody.
type mortal struct {
	*world
	// programs makes the reconcilers of a program that starts.
	programs func() []reconcile.Reconciler
	running  []reconcile.Reconciler

	mu      sync.Mutex
	effects int
	killAt  int
	after   bool
	dead    bool
	done    []string
	ca      []byte // that of BMCs

	// looking tells that the test itself reads: the BMC may still be at the last call of the program,
	// which may die of it at this moment.
	looking atomic.Bool
}

func newMortal(t *testing.T) *mortal {
	m := &mortal{world: newWorld(t)}
	m.programs = m.rotations
	m.live()
	return m
}

// live lets the first program of the world live.
func (m *mortal) live() {
	m.api.Intercept(func(r *http.Request) *kubeapi.Fault {
		if m.looking.Load() {
			return nil
		}
		writes := r.Method != http.MethodGet && strings.Contains(r.URL.Path, "/secrets")
		if lives, after := m.effect(writes, r.Method+" "+r.URL.Path); !lives {
			return &kubeapi.Fault{Err: errKilled, AfterHandling: after}
		}
		return nil
	})
	wrap := func(bmc http.Handler) http.Handler {
		return http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
			lives, after := m.effect(r.Method != http.MethodGet, r.Method+" "+r.URL.Path)
			switch {
			case lives:
				bmc.ServeHTTP(answer, r)
				return
			case after:
				bmc.ServeHTTP(httptest.NewRecorder(), r)
			}
			panic(http.ErrAbortHandler)
		})
	}
	m.wrap.Store(&wrap)
	m.start()
}

// effect is one thing that the program does: lives says that it goes on, after that it
// has died of this one, when it was done.
func (m *mortal) effect(counts bool, what string) (lives, after bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead {
		return false, false
	}
	if !counts {
		return true, false
	}
	m.effects++
	m.done = append(m.done, what)
	if m.effects == m.killAt {
		m.dead = true
		m.done = append(m.done, "(killed)")
		return false, m.after
	}
	return true, false
}

// start starts a program: it remembers nothing.
func (m *mortal) start() {
	m.mu.Lock()
	m.dead, m.killAt = false, 0
	m.mu.Unlock()
	m.pool = client.NewPool(client.Options{Rate: 10_000, Burst: 10_000, Now: m.now})
	m.running = m.programs()
}

// rotations are the reconcilers of passwords alone.
func (m *mortal) rotations() []reconcile.Reconciler {
	return []reconcile.Reconciler{m.rotation(&credentials.Gate{Most: 1})}
}

func (m *mortal) rotation(gate *credentials.Gate) reconcile.Reconciler {
	return &reconciler{
		loop: m.loop(gate),
		options: Options{
			BMCs: m.pool, Random: crand.Reader, Ironics: func(*metal3.BareMetalHost) (Gateway, error) { return mortalIronic{m}, nil },
			CA: m.ca, Now: m.now,
			limits: func(*v1alpha1.BMCReport) password.Limits {
				return password.Limits{Max: 20, Wrong: 2, Refusals: 1, Known: true, Window: 65 * time.Second, Settle: 5 * time.Second}
			},
		},
	}
}

func (m *mortal) loop(gate *credentials.Gate) loop {
	return loop{client: cached{m.kube}, live: m.kube, places: newPlaces(gate)}
}

func (m *mortal) now() time.Time { return time.Now().Add(time.Duration(m.ahead.Load())) }

func (m *mortal) died() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.dead
}

// run has programs work until nothing is to be done, and returns what is told then. A
// killed one is followed by another, twenty seconds later.
func (m *mortal) run(why func() string) reason.Reason {
	m.t.Helper()
	for range 60 {
		after := m.turn(why)
		if m.died() {
			m.start()
			after = 20 * time.Second
		}
		m.stands(why)
		if after == 0 {
			return m.told()
		}
		m.ahead.Add(int64(after))
	}
	m.t.Fatal("no end: " + why())
	return ""
}

// turn has each reconciler make a pass, and returns when the first is to be made again.
func (m *mortal) turn(why func() string) (after time.Duration) {
	for _, r := range m.running {
		result, err := r.Reconcile(m.t.Context(), ctrl.Request{NamespacedName: key})
		if m.died() {
			return 0
		}
		m.Expect(err).NotTo(HaveOccurred(), why())
		if wait := result.RequeueAfter; wait > 0 && (after == 0 || wait < after) {
			after = wait
		}
	}
	return after
}

// stands holds the promise: a stored password opens the BMC.
func (m *mortal) stands(why func() string) {
	m.t.Helper()
	m.looking.Store(true)
	defer m.looking.Store(false)
	stored := []string{m.stored("bmc")["password"]}
	for name, value := range m.stored("host-1-bmc-rotation") {
		if name != "state" {
			stored = append(stored, value)
		}
	}
	m.Expect(stored).To(ContainElement(m.bmcPassword()), why())
}

// told is the condition's reason.
func (m *mortal) told() reason.Reason {
	m.looking.Store(true)
	defer m.looking.Store(false)
	b := v1alpha1.BMC{}
	m.Expect(m.kube.Get(m.t.Context(), key, &b)).To(Succeed())
	if c := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.CredentialsCurrent); c != nil {
		return reason.Reason(c.Reason)
	}
	return ""
}

// mortalIronic is the Ironic as the program reaches it.
type mortalIronic struct{ m *mortal }

func (i mortalIronic) do(what string, act func() error) error {
	lives, after := i.m.effect(what != "get", "Ironic: "+what)
	if !lives && !after {
		return errKilled
	}
	if err := act(); err != nil || lives {
		return err
	}
	return errKilled
}

func (i mortalIronic) Get(ctx context.Context, uuid string) (n *ironic.Node, err error) {
	err = i.do("get", func() error { n, err = i.m.ironic.Get(ctx, uuid); return err })
	return n, err
}

func (i mortalIronic) Update(ctx context.Context, n *ironic.Node, d ironic.Desired) (after *ironic.Node, changed bool, err error) {
	err = i.do("update", func() error { after, changed, err = i.m.ironic.Update(ctx, n, d); return err })
	return after, changed, err
}

func (i mortalIronic) BootDevice(ctx context.Context, uuid string) (device string, err error) {
	err = i.do("boot device", func() error { device, err = i.m.ironic.BootDevice(ctx, uuid); return err })
	return device, err
}

// cached finds hosts by our indexes, as the cache does.
type cached struct{ kclient.Client }

func (c cached) List(ctx context.Context, list kclient.ObjectList, options ...kclient.ListOption) error {
	o := (&kclient.ListOptions{}).ApplyOptions(options)
	hosts, is := list.(*metal3.BareMetalHostList)
	if !is || o.FieldSelector == nil {
		return c.Client.List(ctx, list, options...)
	}
	if err := c.Client.List(ctx, hosts, &kclient.ListOptions{Namespace: o.Namespace}); err != nil {
		return err
	}
	of := map[string]func(*metal3.BareMetalHost) string{secretIndex: secretOf, baseIndex: baseOf}
	for _, r := range o.FieldSelector.Requirements() {
		kept := hosts.Items[:0]
		for i := range hosts.Items {
			if of[r.Field](&hosts.Items[i]) == r.Value {
				kept = append(kept, hosts.Items[i])
			}
		}
		hosts.Items = kept
	}
	return nil
}

// mishaps are what a BMC does wrong once, by round; empty for nothing.
var mishaps = []simulator.Quirk{
	"", simulator.PasswordRefused, simulator.PasswordNotChanged, simulator.PasswordCutBefore, simulator.PasswordCutAfter, simulator.SessionsFull, simulator.AccountETagNeeded,
}

// TestKilledAtEachStep kills the program before and after each write to a Secret, each
// change at the BMC and each word to Ironic, fifty times each, while the BMC does
// something wrong as well, and some of its successors once more. Whatever happens, a
// stored password opens the BMC, no account is locked, and in the end everybody has the
// same password: the new one, but where the BMC refuses all.
func TestKilledAtEachStep(t *testing.T) {
	rounds := 50
	if testing.Short() {
		rounds = 4
	}
	ctrl.SetLogger(logr.Discard())
	whole := newMortal(t)
	whole.ask("1")
	whole.Expect(whole.run(func() string { return fmt.Sprint(whole.done) })).To(Equal(reason.Current))
	t.Logf("%d things are done: %q", whole.effects, whole.done)
	for at := 1; at <= whole.effects; at++ {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			t.Parallel()
			for round := range rounds {
				survives(t, at, round)
			}
		})
	}
}

func survives(t *testing.T, at, round int) {
	t.Helper()
	random := rand.New(rand.NewPCG(uint64(at), uint64(round)))
	m := newMortal(t)
	why := func() string { return fmt.Sprintf("killed at %d, round %d: %q", at, round, m.done) }
	quirk := mishaps[round%len(mishaps)]
	if quirk != "" {
		m.Expect(m.sim.SetQuirk("1", quirk, 1)).To(Succeed())
	}
	m.killAt, m.after = at, round%2 == 0
	m.ask("1")
	again := round%3 == 0
	for {
		told := m.run(func() string {
			if again { // the next program is killed as well
				again = false
				m.mu.Lock()
				m.killAt, m.after = m.effects+1+random.IntN(6), !m.after
				m.mu.Unlock()
			}
			return why()
		})
		if told == reason.Current {
			break
		}
		m.Expect(told).To(BeElementOf(reason.NotAtRest, reason.Refused), why())
	}
	m.looking.Store(true)
	pass := m.bmcPassword()
	m.Expect(m.stored("bmc")).To(HaveKeyWithValue("password", pass), why())
	m.Expect(pass).NotTo(Equal(original), why())
	_, told := m.ironic.login()
	m.Expect(told).To(Equal(pass), why())
	m.Expect(m.sim.Logins()[accounts.Wrong]).To(BeNumerically("<=", 2), why())
	record := &corev1.Secret{}
	m.Expect(m.kube.Get(t.Context(), kclient.ObjectKey{Namespace: key.Namespace, Name: "host-1-bmc-rotation"}, record)).To(Succeed())
	m.Expect(record.Data).To(HaveLen(2), why())
	m.Expect(record.OwnerReferences).To(HaveLen(1), why())
	m.http.Close()
}
