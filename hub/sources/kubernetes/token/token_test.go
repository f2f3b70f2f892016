package token_test

import (
	"encoding/json"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/sources/kubernetes/token"
)

var now = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

func TestReuse(t *testing.T) {
	one := token.New(now)
	kept, err := one.Keep()
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		kept  string
		after time.Duration
		want  bool
	}{
		"at once":               {string(kept), 0, true},
		"half of its life left": {string(kept), token.Life / 2, true},
		"less than that":        {string(kept), token.Life/2 + time.Second, false},
		"long ago":              {string(kept), 30 * token.Life, false},
		"nothing kept":          {"", 0, false},
		"damaged":               {`{"token":"x","expires":"2026-12-24T12:00:00Z"}`, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			got := token.Reuse([]byte(tc.kept), now.Add(tc.after))
			g.Expect(got == one).To(Equal(tc.want))
			g.Expect(got.Text).To(MatchRegexp(`^[a-z0-9]{6}\.[a-z0-9]{16}$`))
			g.Expect(got.Expires).To(BeTemporally(">=", now.Add(tc.after).Add(token.Life/2)))
		})
	}
}

func TestNoTwoTokensAreEqual(t *testing.T) {
	g := NewWithT(t)
	seen := map[string]bool{}
	for range 1000 {
		seen[token.New(now).Text] = true
	}
	g.Expect(seen).To(HaveLen(1000))
}

// TestSecret: the members are those of Kubernetes' bootstrap tokens.
func TestSecret(t *testing.T) {
	g := NewWithT(t)
	secret, err := token.Token{Text: "abcdef.0123456789abcdef", Expires: now}.Secret()
	g.Expect(err).NotTo(HaveOccurred())
	raw, err := json.Marshal(secret)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(raw).To(MatchJSON(`{"apiVersion":"v1","kind":"Secret","type":"bootstrap.kubernetes.io/token",
		"metadata":{"name":"bootstrap-token-abcdef","namespace":"kube-system","labels":{"app.kubernetes.io/managed-by":"ironflow"}},
		"stringData":{"token-id":"abcdef","token-secret":"0123456789abcdef","expiration":"2026-11-28T12:00:00Z",
			"usage-bootstrap-authentication":"true","usage-bootstrap-signing":"true",
			"auth-extra-groups":"system:bootstrappers:kubeadm:default-node-token","description":"hosts that join, made by Ironflow"}}`))
	_, err = token.Token{Text: "abc"}.Secret()
	g.Expect(err).To(MatchError(ContainSubstring("want ID.SECRET")))
}
