package main

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"slices"
	"time"

	"github.com/ironflow/ironflow/test/bench/fleets"
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

// figuresPath is where the simulator tells its figures; the rest is Ironic's API.
const figuresPath = "/bench/figures"

// figures are what the simulator has counted since its start.
type figures struct {
	// Requests by verb and path pattern.
	Requests map[string]int `json:"requests"`
	// Reactions by the operation that had ended, and under "" all of them.
	Reactions map[string]reactions `json:"reactions"`
}

// reactions are how soon ends of operations were reacted to: in seconds, from the
// end to the next request for the node.
type reactions struct {
	Count int     `json:"count"`
	P50   float64 `json:"p50_s"`
	P99   float64 `json:"p99_s"`
	Max   float64 `json:"max_s"`
}

// simulate serves the simulator on an address until the context ends.
func simulate(ctx context.Context, address string) error {
	ironic := simulator.New(simulator.Options{Delays: fleets.Delays, AutomatedClean: true})
	defer ironic.Close()
	mux := http.NewServeMux()
	mux.Handle("/", ironic)
	mux.HandleFunc("GET "+figuresPath, func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(figuresOf(ironic)) // the reader is the bench itself
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

func figuresOf(s *simulator.Server) figures {
	times := map[string][]time.Duration{}
	for _, r := range s.Reactions() {
		times[""] = append(times[""], r.Took)
		times[r.Operation] = append(times[r.Operation], r.Took)
	}
	f := figures{Requests: s.Counts(), Reactions: map[string]reactions{}}
	for operation, took := range times {
		slices.Sort(took)
		at := func(share float64) float64 {
			return took[max(0, int(math.Ceil(share*float64(len(took))))-1)].Seconds()
		}
		f.Reactions[operation] = reactions{Count: len(took), P50: at(0.5), P99: at(0.99), Max: at(1)}
	}
	return f
}
