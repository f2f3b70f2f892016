package effect_test

import (
	"context"
	"errors"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/install/effect"
)

// noted is what a recorder was told, in order.
type noted struct {
	lines []string
	full  bool // nothing more can be kept
}

func (n *noted) recorder() *effect.Recorder {
	return &effect.Recorder{
		Begin: func(name, target string) error {
			if n.full {
				return errors.New("no space left on device")
			}
			n.lines = append(n.lines, "begun "+name+" "+target)
			return nil
		},
		Done:  func(name, target string) error { n.lines = append(n.lines, "done "+name+" "+target); return nil },
		Point: func(point string) { n.lines = append(n.lines, point) },
	}
}

func TestAnEffectIsNotedAroundTheChange(t *testing.T) {
	broken, stopped := errors.New("disk broke"), errors.New("the hub ended the installation")
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(stopped)
	for name, tc := range map[string]struct {
		ctx    context.Context
		effect effect.Name
		full   bool
		err    error
		want   []string
		fails  string
	}{
		"done":             {t.Context(), effect.WriteImage, false, nil, []string{"begun write-image /dev/sda", "before write-image", "changed", "after write-image", "done write-image /dev/sda"}, ""},
		"failed":           {t.Context(), effect.WriteImage, false, broken, []string{"begun write-image /dev/sda", "before write-image", "changed", "after write-image"}, "disk broke"},
		"cannot be noted":  {t.Context(), effect.WriteImage, true, nil, nil, "no space left"},
		"already stopped":  {ended, effect.WriteImage, false, nil, nil, "the hub ended"},
		"not in the table": {t.Context(), "format-everything", false, nil, nil, "not in the table"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			n := &noted{full: tc.full}
			err := n.recorder().Do(tc.ctx, tc.effect, "/dev/sda", func() error {
				n.lines = append(n.lines, "changed")
				return tc.err
			})
			g.Expect(n.lines).To(Equal(tc.want), "what is not noted does not happen")
			if tc.fails == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(MatchError(ContainSubstring(tc.fails)))
		})
	}
}

func TestTheTableIsComplete(t *testing.T) {
	g := NewWithT(t)
	seen := map[effect.Name]bool{}
	for _, row := range effect.Table() {
		g.Expect(seen).NotTo(HaveKey(row.Name))
		g.Expect(row.Changes).NotTo(BeEmpty(), string(row.Name))
		g.Expect(row.Again).NotTo(BeEmpty(), string(row.Name))
		seen[row.Name] = true
	}
	var none *effect.Recorder
	g.Expect(none.Do(t.Context(), effect.BootEntry, "", func() error { return nil })).To(Succeed(), "nobody has to record")
}
