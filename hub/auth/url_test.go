package auth_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/auth"
)

func TestSignedURL(t *testing.T) {
	g := NewWithT(t)
	key, err := auth.NewKey([]byte(strings.Repeat("k", 32)))
	g.Expect(err).NotTo(HaveOccurred())
	other, err := auth.NewKey([]byte(strings.Repeat("o", 32)))
	g.Expect(err).NotTo(HaveOccurred())
	now := time.Unix(1_800_000_000, 0)
	signed, err := key.SignURL("/v2/clusters/a/logs", url.Values{"logs_type": {"host"}}, now.Add(time.Minute))
	g.Expect(err).NotTo(HaveOccurred())
	for name, tc := range map[string]struct {
		path   string
		change func(url.Values)
		key    auth.Key
		after  time.Duration
		want   error
	}{
		"as it was signed":   {path: "/v2/clusters/a/logs", key: key},
		"at its end":         {path: "/v2/clusters/a/logs", key: key, after: time.Minute},
		"over":               {path: "/v2/clusters/a/logs", key: key, after: time.Minute + time.Second, want: auth.ErrExpired},
		"another path":       {path: "/v2/clusters/b/logs", key: key, want: auth.ErrInvalid},
		"another query":      {path: "/v2/clusters/a/logs", key: key, change: func(q url.Values) { q.Set("logs_type", "all") }, want: auth.ErrInvalid},
		"more of a query":    {path: "/v2/clusters/a/logs", key: key, change: func(q url.Values) { q.Set("host_id", "b") }, want: auth.ErrInvalid},
		"another hub's":      {path: "/v2/clusters/a/logs", key: other, want: auth.ErrInvalid},
		"no signature":       {path: "/v2/clusters/a/logs", key: key, change: func(q url.Values) { q.Del(auth.URLKey) }, want: auth.ErrInvalid},
		"an agent's token":   {path: "/v2/clusters/a/logs", key: key, change: func(q url.Values) { q.Set(auth.URLKey, "ifa1.x.y") }, want: auth.ErrInvalid},
		"nothing but prefix": {path: "/v2/clusters/a/logs", key: key, change: func(q url.Values) { q.Set(auth.URLKey, "u1.") }, want: auth.ErrInvalid},
		"hub without a key":  {path: "/v2/clusters/a/logs", want: auth.ErrInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			query, err := url.ParseQuery(signed.Encode())
			NewWithT(t).Expect(err).NotTo(HaveOccurred())
			if tc.change != nil {
				tc.change(query)
			}
			err = tc.key.CheckURL(tc.path, query, now.Add(tc.after))
			if tc.want == nil {
				NewWithT(t).Expect(err).NotTo(HaveOccurred())
				return
			}
			NewWithT(t).Expect(err).To(MatchError(tc.want))
		})
	}
}
