package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/ironflow/ironflow/test/bmc/simulator"
	"github.com/ironflow/ironflow/test/bmc/simulator/fleet"
	"github.com/ironflow/ironflow/test/bmc/simulator/profile"
)

// The credentials of all BMCs.
const (
	username = "admin"
	password = "s1mulated-Secret"
)

// roll says where the BMCs are.
type roll struct {
	// CA is the certificate of who issued theirs.
	CA string `json:"ca"`
	// Systems are the Redfish addresses of the machines.
	Systems []string `json:"systems"`
}

// The paths at which the process of the BMCs is asked by the bench.
const (
	pathRoll     = "/roll"
	pathRequests = "/requests"
	pathKinds    = "/kinds"
	pathEmit     = "/emit"
	pathPower    = "/power"
)

// sessionLife is how long a session lives that is not used: shorter than the pauses of
// the stages of rest, as with several makers' BMCs and the pauses of a program that is used.
const sessionLife = 20 * time.Second

// beBMCs runs so many BMCs, and answers the bench on an address, until the context
// ends. They are of makers' kinds in turn: of those with virtual media that work, since
// the preflight holds the hosts of others.
func beBMCs(ctx context.Context, address string, n int, delay time.Duration) error {
	kinds := []profile.Profile{profile.HPE(), profile.Lenovo(), profile.Supermicro(), profile.OpenBMC()}
	f, err := fleet.Start(ctx, fleet.Options{
		BMCs: n, Delay: delay, Server: simulator.Options{Username: username, Password: password, SessionTimeout: sessionLife, Events: pushing(n)},
		System: func(i int) simulator.System {
			system := kinds[i%len(kinds)].System
			system.Power = simulator.On
			return system
		},
	})
	if err != nil {
		return err
	}
	defer f.Close()
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+pathRoll, func(w http.ResponseWriter, _ *http.Request) {
		r := roll{CA: string(f.CA())}
		for i := range f.Len() {
			r.Systems = append(r.Systems, f.SystemURL(i))
		}
		answer(w, r)
	})
	mux.HandleFunc("GET "+pathRequests, func(w http.ResponseWriter, _ *http.Request) {
		var counts []int
		for i := range f.Len() {
			counts = append(counts, f.BMC(i).Total(""))
		}
		answer(w, counts)
	})
	mux.HandleFunc("GET "+pathKinds, func(w http.ResponseWriter, _ *http.Request) {
		kinds := map[string]int{}
		for i := range f.Len() {
			for kind, n := range f.BMC(i).Counts() {
				kinds[kind] += n
			}
		}
		answer(w, kinds)
	})
	mux.HandleFunc("POST "+pathEmit, func(w http.ResponseWriter, r *http.Request) {
		events, _ := strconv.Atoi(r.FormValue("events")) // the bench gives numbers
		perSecond, _ := strconv.Atoi(r.FormValue("rate"))
		answer(w, emit(r.Context(), f, events, perSecond))
	})
	mux.HandleFunc("POST "+pathPower, func(w http.ResponseWriter, r *http.Request) {
		i, _ := strconv.Atoi(r.FormValue("host"))
		power := simulator.PowerState(r.FormValue("state"))
		now := time.Now()
		if err := f.BMC(i).SetPower(f.SystemID(i), power); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		answer(w, now)
	})
	server := &http.Server{Addr: address, Handler: mux, ReadHeaderTimeout: time.Minute}
	go func() {
		<-ctx.Done()
		_ = server.Close() // its listener's error is told by ListenAndServe
	}()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// pushing is how the BMCs deliver events. They check no certificate, as most BMCs do
// before they are given one, and each has a connection of its own.
func pushing(n int) http.RoundTripper {
	return &http.Transport{
		TLSClientConfig:     &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}, //nolint:gosec // see above
		MaxIdleConnsPerHost: n, TLSHandshakeTimeout: 30 * time.Second, ResponseHeaderTimeout: 30 * time.Second,
	}
}

// emit has the BMCs tell so many events in turn, so many a second, and returns when the
// first was told. They are about a task: the program looks up who waits for one.
func emit(ctx context.Context, f *fleet.Fleet, events, perSecond int) time.Time {
	begin := time.Now()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for told := 0; told < events; {
		due := min(events, 1+int(time.Since(begin).Seconds()*float64(perSecond)))
		for ; told < due; told++ {
			i := told % f.Len()
			event := simulator.Event{Type: "ResourceUpdated", MessageID: "TaskEvent.1.0.TaskProgressChanged", Severity: "OK", Message: "event " + strconv.Itoa(told)}
			_ = f.BMC(i).Emit(f.SystemID(i), event) // the system is there
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return begin
		}
	}
	return begin
}

func answer(w http.ResponseWriter, value any) {
	_ = json.NewEncoder(w).Encode(value) // the reader is the bench itself
}

// bmcs asks the process of the BMCs.
type bmcs struct{ url string }

func (b bmcs) ask(ctx context.Context, method, path string, into any) error {
	request, err := http.NewRequestWithContext(ctx, method, b.url+path, http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the process of the BMCs answers %s to %s", response.Status, path)
	}
	return json.NewDecoder(response.Body).Decode(into)
}

func (b bmcs) roll(ctx context.Context) (roll, error) {
	var r roll
	return r, b.ask(ctx, http.MethodGet, pathRoll, &r)
}

// requests are how many each BMC has got since its start.
func (b bmcs) requests(ctx context.Context) ([]int, error) {
	var counts []int
	return counts, b.ask(ctx, http.MethodGet, pathRequests, &counts)
}

// kinds are the requests that all BMCs have got since their start, by verb and path.
func (b bmcs) kinds(ctx context.Context) (map[string]int, error) {
	var kinds map[string]int
	return kinds, b.ask(ctx, http.MethodGet, pathKinds, &kinds)
}

// emit has so many events told, so many a second. It returns when the first was.
func (b bmcs) emit(ctx context.Context, events, perSecond int) (time.Time, error) {
	var begin time.Time
	return begin, b.ask(ctx, http.MethodPost, fmt.Sprintf("%s?events=%d&rate=%d", pathEmit, events, perSecond), &begin)
}

// power has a machine change its power by itself. It returns when.
func (b bmcs) power(ctx context.Context, host int, state simulator.PowerState) (time.Time, error) {
	var at time.Time
	return at, b.ask(ctx, http.MethodPost, fmt.Sprintf("%s?host=%d&state=%s", pathPower, host, state), &at)
}
