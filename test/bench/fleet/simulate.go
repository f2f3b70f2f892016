package main

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"slices"
	"time"

	"github.com/ironflow/ironflow/ironic/simulator"
)

// delays are those that the figures of the existing operator were measured with.
var delays = simulator.Delays{
	Verify: 500 * time.Millisecond, Inspect: 5 * time.Second, Clean: 5 * time.Second,
	Deploy: 5 * time.Second, Power: time.Second,
}

// figuresPath is where the simulator tells its figures; the rest is Ironic's API.
const figuresPath = "/bench/figures"

// figures are what the simulator has counted since its start.
type figures struct {
	// Requests by verb and path pattern.
	Requests map[string]int `json:"requests"`
	// Reactions is how many ends of operations were reacted to.
	Reactions int `json:"reactions"`
	// Seconds from the end of an operation to the next request for its node.
	ReactionP50 float64 `json:"reaction_p50_s"`
	ReactionP99 float64 `json:"reaction_p99_s"`
	ReactionMax float64 `json:"reaction_max_s"`
}

// simulate serves the simulator on an address until the context ends.
func simulate(ctx context.Context, address string) error {
	ironic := simulator.New(simulator.Options{Delays: delays, AutomatedClean: true})
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
	reactions := s.Reactions()
	slices.Sort(reactions)
	at := func(share float64) float64 {
		if len(reactions) == 0 {
			return 0
		}
		i := int(math.Ceil(share*float64(len(reactions)))) - 1
		return reactions[max(0, i)].Seconds()
	}
	return figures{
		Requests: s.Counts(), Reactions: len(reactions),
		ReactionP50: at(0.5), ReactionP99: at(0.99), ReactionMax: at(1),
	}
}
