package progress_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/lab/progress"
)

func TestTrack(t *testing.T) {
	tests := []struct {
		name  string
		takes time.Duration
		usual time.Duration
		err   error
		want  []string
	}{
		{
			name: "short", takes: 3 * time.Second,
			want: []string{"bmc:           starting", "bmc:           starting: done in 3s"},
		},
		{
			name: "long", takes: 40 * time.Second, usual: 5 * time.Minute,
			want: []string{
				"bmc:           starting (usually 5m0s)",
				"bmc:           starting … 15s of usually 5m0s",
				"bmc:           starting … 30s of usually 5m0s",
				"bmc:           starting: done in 40s",
			},
		},
		{
			name: "failing", takes: 1500 * time.Millisecond, err: errors.New("no"),
			want: []string{"bmc:           starting", "bmc:           starting: failed after 1.5s"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				var out strings.Builder
				err := progress.Lines(&out).Track("bmc", "starting", test.usual, func() error {
					<-time.After(test.takes)
					return test.err
				})
				if test.err == nil {
					g.Expect(err).NotTo(HaveOccurred())
				} else {
					g.Expect(err).To(MatchError(test.err))
				}
				g.Expect(strings.Split(strings.TrimSpace(out.String()), "\n")).To(Equal(test.want))
			})
		})
	}
	t.Run("without a listener", func(t *testing.T) {
		NewWithT(t).Expect(progress.Func(nil).Track("bmc", "starting", 0, func() error { return nil })).To(Succeed())
	})
}
