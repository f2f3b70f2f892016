package tang

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/ironflow/ironflow/agent/probe"
	"github.com/ironflow/ironflow/hub/wire"
)

const (
	// perServer bounds one server.
	perServer = 20 * time.Second
	// maxAdvertisement bounds an answer; real ones have about 2 KiB.
	maxAdvertisement = 1 << 20
)

type (
	advertisement = wire.TangConnectivityResponseTangServerResponse
	signature     = wire.TangConnectivityResponseTangServerResponseSignatures
)

// askAll asks all servers at once. The answers are in the servers' order; the
// error has a line for each server that failed.
func askAll(ctx context.Context, client *http.Client, servers []server) ([]advertisement, error) {
	answers, errs := make([]advertisement, len(servers)), make([]error, len(servers))
	var all sync.WaitGroup
	for i, s := range servers {
		all.Go(func() {
			answers[i], errs[i] = ask(ctx, client, s)
			if errs[i] != nil {
				errs[i] = fmt.Errorf("tang server %s: %w", s.URL, errs[i])
			}
		})
	}
	all.Wait()
	return answers, errors.Join(errs...)
}

// ask gets the advertisement of one server.
func ask(ctx context.Context, client *http.Client, s server) (advertisement, error) {
	ctx, cancel := context.WithTimeout(ctx, perServer)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(s.URL, "/")+"/adv/"+s.Thumbprint, http.NoBody)
	if err != nil {
		return advertisement{}, err
	}
	body, err := probe.Fetch(client, request, func(status int) bool { return status == http.StatusOK }, maxAdvertisement)
	if err != nil {
		return advertisement{}, err
	}
	out, err := parse(body)
	out.TangURL = s.URL
	return out, err
}

// parse reads an advertisement: a JWS with a list of signatures, or, from a
// server with one signing key, with its one signature beside the payload
// (RFC 7515, sections 7.2.1 and 7.2.2).
func parse(body []byte) (advertisement, error) {
	var jws struct {
		Payload    string      `json:"payload"`
		Signatures []signature `json:"signatures"`
		signature
	}
	if err := json.Unmarshal(body, &jws); err != nil {
		return advertisement{}, fmt.Errorf("the answer is not JSON of the expected form: %w: %s", err, probe.Quote(body))
	}
	if len(jws.Signatures) == 0 && jws.Signature != "" {
		jws.Signatures = []signature{jws.signature}
	}
	if jws.Payload == "" || len(jws.Signatures) == 0 {
		return advertisement{}, fmt.Errorf("the answer is no signed list of keys: %s", probe.Quote(body))
	}
	return advertisement{Payload: jws.Payload, Signatures: jws.Signatures}, nil
}
