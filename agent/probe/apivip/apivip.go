// Package apivip is the step api-vip-connectivity-check: whether the API of a
// cluster that exists already gives this host its Ignition (day 2). What the
// hub gets of it is reduced to what it needs to know: how disks are encrypted,
// and how the cluster's virtual addresses are kept.
package apivip

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/ironflow/ironflow/agent/probe"
	"github.com/ironflow/ironflow/agent/steps"
	"github.com/ironflow/ironflow/hub/wire"
)

// dryIgnition is the smallest Ignition that a pretended API gives out.
const dryIgnition = `{"ignition":{"version":"3.2.0"}}`

const (
	// limit bounds the download; the step may take a little longer, so that a
	// slow API is a failed check and not a step without an answer.
	limit = time.Minute
	grace = 5 * time.Second
	// maxHeaders bounds the headers that a hub adds.
	maxHeaders = 64
)

// Check asks the cluster's API for the host's Ignition (day 2). A failed check
// is no failed step: exit 0 and the reason in download_error.
var Check = probe.Check[wire.APIVIPConnectivityRequest]{
	Deadline: limit + grace,
	Validate: func(r wire.APIVIPConnectivityRequest) error {
		_, err := decodeCA(r)
		return errors.Join(probe.CheckURL("url", r.URL), err, checkHeaders(r))
	},
	Real: func(ctx context.Context, env probe.Env, r wire.APIVIPConnectivityRequest) steps.Result {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		ignition, err := download(ctx, env.HTTP, r)
		if err != nil {
			result := steps.JSON(wire.APIVIPConnectivityResponse{URL: r.URL, DownloadError: err.Error()})
			result.Error = "ignition download error"
			return result
		}
		return steps.JSON(wire.APIVIPConnectivityResponse{IsSuccess: true, URL: r.URL, Ignition: ignition})
	},
	Dry: func(_ context.Context, _ probe.Env, r wire.APIVIPConnectivityRequest) steps.Result {
		return steps.JSON(wire.APIVIPConnectivityResponse{IsSuccess: true, URL: r.URL, Ignition: dryIgnition})
	},
}

// decodeCA returns the PEM text of ca_certificate; nil when there is none.
func decodeCA(r wire.APIVIPConnectivityRequest) ([]byte, error) {
	if r.CaCertificate == nil || *r.CaCertificate == "" {
		return nil, nil
	}
	pem, err := base64.StdEncoding.DecodeString(strings.TrimSpace(*r.CaCertificate))
	if err != nil {
		return nil, fmt.Errorf("ca_certificate is not base64: %w", err)
	}
	return pem, nil
}

// headerName is a header's name, RFC 9110, section 5.6.2.
var headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")

// checkHeaders refuses headers that would be more than one line. It never quotes a value: values are secrets.
func checkHeaders(r wire.APIVIPConnectivityRequest) error {
	if len(r.RequestHeaders) > maxHeaders {
		return fmt.Errorf("%d request_headers are more than %d", len(r.RequestHeaders), maxHeaders)
	}
	for _, h := range r.RequestHeaders {
		if !headerName.MatchString(h.Key) {
			return fmt.Errorf("request_headers: %q is not the name of a header", h.Key)
		}
		if !plain(h.Value) {
			return fmt.Errorf("request_headers: the value of %s has control characters", h.Key)
		}
	}
	if r.IgnitionEndpointToken != nil && !plain(*r.IgnitionEndpointToken) {
		return errors.New("ignition_endpoint_token has control characters")
	}
	return nil
}

func plain(value string) bool {
	return !strings.ContainsFunc(value, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f })
}
