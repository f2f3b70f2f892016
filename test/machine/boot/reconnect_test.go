package boot_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/machine/boot"
)

// transport answers from a list, then goes on with the last.
type transport []func() (*http.Response, error)

func (t *transport) RoundTrip(*http.Request) (*http.Response, error) {
	answer := (*t)[0]
	if len(*t) > 1 {
		*t = (*t)[1:]
	}
	return answer()
}

func refused() (*http.Response, error) { return nil, errors.New("connection refused") }

func broken() (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusPartialContent, Body: io.NopCloser(io.MultiReader(strings.NewReader("ha"), errReader{}))}, nil
}

func served() (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusPartialContent, Body: io.NopCloser(strings.NewReader("half"))}, nil
}

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestReconnect(t *testing.T) {
	for name, tc := range map[string]struct {
		answers transport
		want    string
	}{
		"a server that comes back is read on":       {transport{refused, refused, broken, served}, "half"},
		"a server that stays away is an error then": {transport{refused}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				begin := time.Now()
				req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://images.example/1.iso", http.NoBody)
				g.Expect(err).NotTo(HaveOccurred())
				answer, err := boot.Reconnect{Base: &tc.answers, For: 30 * time.Second}.RoundTrip(req) //nolint:bodyclose // the body is in memory
				if tc.want == "" {
					g.Expect(err).To(MatchError(ContainSubstring("refused")))
					g.Expect(time.Since(begin)).To(Equal(30 * time.Second))
					return
				}
				g.Expect(err).NotTo(HaveOccurred())
				body, err := io.ReadAll(answer.Body)
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(string(body)).To(Equal(tc.want))
			})
		})
	}
}
