package selfcheck

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"k8s.io/client-go/rest"
)

// oldestKubernetes is the oldest minor version of the API server whose admission rules and
// fields of CustomResourceDefinitions Ironflow's manifests use.
const oldestKubernetes = 30

// Limits of the difference between two clocks. Certificates and tokens fail for a few minutes;
// times in logs and conditions mislead for less.
const (
	clockWarning = 5 * time.Second
	clockError   = 2 * time.Minute
)

// Kubernetes asks the API server which version it is. now is our clock, which is compared with
// the API server's.
func Kubernetes(config *rest.Config, now func() time.Time) []Check {
	ask := func(ctx context.Context) (version, time.Time, time.Time, error) { return askVersion(ctx, config, now) }
	return []Check{
		{"kubernetes", func(ctx context.Context) []Finding {
			v, _, _, err := ask(ctx)
			if err != nil {
				return wrong(fmt.Sprintf("the API server at %s does not answer: %v", config.Host, err), "set --kubeconfig or KUBECONFIG to a cluster that is reached from here; in a pod, look at the service account's token and at network policies")
			}
			return v.judge(config.Host)
		}},
		{"clock", func(ctx context.Context) []Finding {
			_, ours, theirs, err := ask(ctx)
			if err != nil || theirs.IsZero() {
				return doubtful("this clock cannot be compared: the API server did not tell its time", "see the check kubernetes")
			}
			return judgeClock(ours.Sub(theirs))
		}},
	}
}

// version is the answer of /version.
type version struct {
	GitVersion string `json:"gitVersion"`
	Major      string `json:"major"`
	Minor      string `json:"minor"`
}

func (v version) judge(host string) []Finding {
	var minor int
	if _, err := fmt.Sscanf(v.Minor, "%d", &minor); err != nil || v.Major != "1" {
		return doubtful(fmt.Sprintf("%s calls itself %q, which is no version that is known", host, v.GitVersion), "docs/versions.md lists those that were tested")
	}
	if minor < oldestKubernetes {
		return wrong(fmt.Sprintf("%s is %s, and 1.%d is needed", host, v.GitVersion, oldestKubernetes), "upgrade the cluster")
	}
	return good(fmt.Sprintf("%s at %s", v.GitVersion, host))
}

// judgeClock judges how far our clock is before another.
func judgeClock(ahead time.Duration) []Finding {
	const next = "have this machine and the control plane follow the same time server (chrony, systemd-timesyncd)"
	text := fmt.Sprintf("this clock is %s ahead of the API server's", ahead.Round(time.Second))
	if ahead < 0 {
		text = fmt.Sprintf("this clock is %s behind the API server's", (-ahead).Round(time.Second))
	}
	switch off := ahead.Abs(); {
	case off > clockError:
		return wrong(text+": certificates and tokens are refused", next)
	case off > clockWarning:
		return doubtful(text, next)
	}
	return good("as the API server's, to a few seconds")
}

// askVersion reads /version, our time in the middle of that, and the API server's.
func askVersion(ctx context.Context, config *rest.Config, now func() time.Time) (v version, ours, theirs time.Time, err error) {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return v, ours, theirs, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(base(config.Host), "/")+"/version", nil)
	if err != nil {
		return v, ours, theirs, err
	}
	began := now()
	response, err := client.Do(request)
	if err != nil {
		return v, ours, theirs, err
	}
	defer response.Body.Close()
	ours = began.Add(now().Sub(began) / 2)
	if theirs, err = http.ParseTime(response.Header.Get("Date")); err != nil {
		theirs = time.Time{} // a proxy that leaves it out
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, 1<<16))
	if err != nil {
		return v, ours, theirs, err
	}
	if response.StatusCode != http.StatusOK {
		return v, ours, theirs, fmt.Errorf("GET /version: %s", response.Status)
	}
	if err := json.Unmarshal(body, &v); err != nil {
		return v, ours, theirs, fmt.Errorf("GET /version: %w", err)
	}
	return v, ours, theirs, nil
}

// base is a host of a configuration as a URL.
func base(host string) string {
	if strings.Contains(host, "://") {
		return host
	}
	return "https://" + host
}
