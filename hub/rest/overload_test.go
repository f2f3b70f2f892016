package rest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/rest"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// overloaded is the API of a hub whose store takes a second for each write.
type overloaded struct {
	api   http.Handler
	token string
	store *failingStore
}

func (o *overloaded) call(ctx context.Context, method, path string, body io.Reader) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(ctx, method, rest.Base+"/v2"+path, body)
	r.Header.Set(wire.HeaderAgentToken, o.token)
	w := httptest.NewRecorder()
	o.api.ServeHTTP(w, r)
	return w
}

const hostsOfToken = "/infra-envs/" + envOfToken + "/hosts"

func nthHost(n int) string { return fmt.Sprintf("aaaaaaaa-0000-4000-8000-%012d", n) }

func (o *overloaded) register(ctx context.Context, n int) *httptest.ResponseRecorder {
	return o.call(ctx, http.MethodPost, hostsOfToken, strings.NewReader(`{"host_id": "`+nthHost(n)+`"}`))
}

// registerAgain is register of a host that was told to come later, and did.
func (o *overloaded) registerAgain(ctx context.Context, n int) *httptest.ResponseRecorder {
	return o.callAgain(ctx, hostsOfToken, `{"host_id": "`+nthHost(n)+`"}`)
}

// callAgain is a POST of a host that was told to come later, and did.
func (o *overloaded) callAgain(ctx context.Context, path, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, rest.Base+"/v2"+path, strings.NewReader(body))
	r.Header.Set(wire.HeaderAgentToken, o.token)
	r.Header.Set(wire.HeaderWaited, "30")
	w := httptest.NewRecorder()
	o.api.ServeHTTP(w, r)
	return w
}

// installing makes the n-th host one that is being installed.
func (o *overloaded) installing(t *testing.T, n int) {
	t.Helper()
	g := NewWithT(t)
	g.Expect(o.register(t.Context(), n).Code).To(Equal(http.StatusCreated))
	unit := &store.Unit{}
	g.Expect(o.store.Store.View(t.Context(), func(r *store.Reader) error {
		host, err := r.Host(store.HostKey{InfraEnvID: envOfToken, HostID: nthHost(n)})
		if err != nil {
			return err
		}
		host.API.Status = wire.HostStatusInstallingInProgress
		unit.Hosts = append(unit.Hosts, host)
		return nil
	})).To(Succeed())
	g.Expect(o.store.Store.Commit(t.Context(), unit)).To(Succeed())
}

// unread is a body that nobody may read.
type unread struct{ t *testing.T }

// Read implements [io.Reader].
func (u unread) Read([]byte) (int, error) {
	u.t.Error("the body of a refused call is read")
	return 0, io.EOF
}

// TestAHubThatIsBehind works as fast as ever: it sends away what it would not get through before it reads it, each
// caller to a moment of its own, and answers polls. What is reported for the first time waits for its turn, and so does a
// host that was sent away before.
func TestAHubThatIsBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		o := &overloaded{store: &failingStore{}}
		o.api, o.token = apiOver(t, o.store)
		defer func() { _ = o.store.Close() }()
		g.Expect(o.register(t.Context(), 0).Code).To(Equal(http.StatusCreated))
		poll := func() {
			w := o.call(t.Context(), http.MethodGet, hostsOfToken+"/"+nthHost(0)+"/instructions", http.NoBody)
			g.Expect(w.Code).To(Equal(http.StatusOK), w.Body.String())
			g.Expect(w.Body.String()).To(ContainSubstring(`"inventory"`))
		}
		poll()
		const calls, installing, judged = 300, 1000, 2000
		o.installing(t, installing)
		o.judged(t.Context(), g, judged)
		o.store.takes = time.Second / 2 // with four at once, 8 a second
		codes := make(chan int, calls)
		var calling sync.WaitGroup
		defer calling.Wait() // also where something was not as expected
		for n := range calls {
			calling.Go(func() { codes <- o.register(t.Context(), n+1).Code })
		}
		<-time.After(6*time.Second + time.Second/2)
		begin := time.Now()
		var moments []int
		for range 20 {
			w := o.call(t.Context(), http.MethodPost, hostsOfToken+"/"+nthHost(judged)+"/instructions", unread{t})
			g.Expect(w.Code).To(Equal(http.StatusServiceUnavailable), w.Body.String())
			seconds, err := strconv.Atoi(w.Header().Get("Retry-After"))
			g.Expect(err).NotTo(HaveOccurred())
			moments = append(moments, seconds)
		}
		g.Expect(moments[0]).To(BeNumerically("~", (calls-6*8)/8, 3), "when the hub is through with what it has")
		g.Expect(moments[len(moments)-1]).To(BeNumerically("~", moments[0]+len(moments)/8, 1), "not all at the same time")
		poll()
		again := o.callAgain(t.Context(), hostsOfToken+"/"+nthHost(judged)+"/instructions", "{")
		g.Expect(again.Code).To(Equal(http.StatusBadRequest), "the reply of who has waited is read")
		g.Expect(time.Since(begin)).To(BeZero(), "none of these waits for anything")
		g.Expect(o.call(t.Context(), http.MethodPost, hostsOfToken, unread{t}).Code).To(Equal(http.StatusServiceUnavailable), "new ones are sent away, too")
		first, back := make(chan int, 1), make(chan int, 1)
		calling.Go(func() { first <- o.reports(t.Context(), g, 0, wire.StepTypeInventory, inventoryOfHost).Code })
		calling.Go(func() { back <- o.registerAgain(t.Context(), calls+1).Code })
		failure := strings.NewReader(`{"step_type": "install", "exit_code": 1, "error": "the disk is broken"}`)
		failed := o.call(t.Context(), http.MethodPost, hostsOfToken+"/"+nthHost(installing)+"/instructions", failure)
		g.Expect(failed.Code).To(Equal(http.StatusNoContent), "what an installation comes to is never sent away: %s", failed.Body)
		g.Expect(<-first).To(Equal(http.StatusNoContent), "nor is a first inventory")
		g.Expect(<-back).To(Equal(http.StatusCreated), "nor who has waited")
		count := map[int]int{}
		for range calls {
			count[<-codes]++
		}
		g.Expect(count[http.StatusCreated]).To(BeNumerically("~", 8*25, 8))
		g.Expect(count[http.StatusCreated]+count[http.StatusServiceUnavailable]).To(Equal(calls), "%v", count)
		g.Expect(time.Since(begin)).To(BeNumerically("<", 24*time.Second), "no agent has given up by then")
	})
}

// TestARegistrationThatIsRepeated is one, whether its first caller is still there or not.
func TestARegistrationThatIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		o := &overloaded{store: &failingStore{takes: time.Second}}
		o.api, o.token = apiOver(t, o.store)
		defer func() { _ = o.store.Close() }()
		first, leave := context.WithCancel(t.Context())
		ended := make(chan *httptest.ResponseRecorder)
		go func() { ended <- o.register(first, 1) }()
		synctest.Wait()
		leave()
		again := o.register(t.Context(), 1)
		g.Expect(again.Code).To(Equal(http.StatusCreated), again.Body.String())
		<-ended
		events, _, err := o.store.hub.Events(t.Context(), store.EventFilter{HostIDs: []string{nthHost(1)}})
		g.Expect(err).NotTo(HaveOccurred())
		registered := slices.DeleteFunc(events, func(e wire.Event) bool { return e.Name != "host_registration_succeeded" })
		g.Expect(registered).To(HaveLen(1))
	})
}

// inventoryOfHost is what a host reports of itself.
const inventoryOfHost = `{"hostname":"h","cpu":{"count":8,"architecture":"x86_64"},"memory":{"physical_bytes":34359738368},"disks":[],"interfaces":[]}`

// reports sends what came of a step on the n-th host.
func (o *overloaded) reports(ctx context.Context, g *WithT, n int, step wire.StepType, output string) *httptest.ResponseRecorder {
	raw, err := json.Marshal(wire.StepReply{StepType: step, StepID: string(step) + "-1", Output: output})
	g.Expect(err).NotTo(HaveOccurred())
	return o.call(ctx, http.MethodPost, hostsOfToken+"/"+nthHost(n)+"/instructions", bytes.NewReader(raw))
}

// judged makes the n-th host one that has told what it is.
func (o *overloaded) judged(ctx context.Context, g *WithT, n int) {
	g.Expect(o.register(ctx, n).Code).To(Equal(http.StatusCreated))
	for step, output := range map[wire.StepType]string{
		wire.StepTypeInventory:       inventoryOfHost,
		wire.StepTypeNTPSynchronizer: `{"ntp_sources":[]}`,
	} {
		w := o.reports(ctx, g, n, step, output)
		g.Expect(w.Code).To(Equal(http.StatusNoContent), w.Body.String())
	}
}

func (o *overloaded) poll(ctx context.Context, g *WithT, n int) (steps wire.Steps) {
	w := o.call(ctx, http.MethodGet, hostsOfToken+"/"+nthHost(n)+"/instructions", http.NoBody)
	g.Expect(w.Code).To(Equal(http.StatusOK), w.Body.String())
	g.Expect(json.Unmarshal(w.Body.Bytes(), &steps)).To(Succeed())
	return steps
}

// TestAHubThatIsBehindAsksLess of the hosts that it has judged, and has them come back later; a host that it knows
// nothing of is asked as ever, and everything is once the hub has time.
func TestAHubThatIsBehindAsksLess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		o := &overloaded{store: &failingStore{}}
		o.api, o.token = apiOver(t, o.store)
		defer func() { _ = o.store.Close() }()
		const known, calls, unknown = 20, 150, 1000
		for n := range known {
			o.judged(t.Context(), g, n)
			g.Expect(o.poll(t.Context(), g, n).Instructions).To(HaveLen(2))
		}
		g.Expect(o.register(t.Context(), unknown).Code).To(Equal(http.StatusCreated))
		o.store.takes = time.Second
		var calling sync.WaitGroup
		for n := range calls {
			calling.Go(func() { o.register(t.Context(), known+n) })
		}
		<-time.After(5*time.Second + time.Second/2)
		asked := 0
		for n := range known {
			steps := o.poll(t.Context(), g, n)
			if asked += len(steps.Instructions); len(steps.Instructions) == 0 {
				g.Expect(steps.NextInstructionSeconds).To(And(BeNumerically(">=", 60), BeNumerically("<=", 120)))
			}
		}
		g.Expect(asked).To(BeNumerically("<", known), "some have their turn")
		first := o.poll(t.Context(), g, unknown)
		g.Expect(first.Instructions).To(ContainElement(HaveField("StepType", wire.StepTypeInventory)))
		g.Expect(first.NextInstructionSeconds).To(BeNumerically("<", 10))
		calling.Wait()
		o.store.takes = 0
		for n := range known {
			g.Expect(o.poll(t.Context(), g, n).Instructions).To(HaveLen(2))
		}
	})
}
