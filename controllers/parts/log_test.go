package parts

import (
	"bytes"
	"testing"

	. "github.com/onsi/gomega"
)

// TestLog reads lines of loggers that were made from one another.
func TestLog(t *testing.T) {
	g := NewWithT(t)
	var out bytes.Buffer
	line := func() string {
		defer out.Reset()
		return out.String()
	}
	log := slogTo(&out, "info").With("logger", "hub")
	first, second := log.With("host", "a"), log.With("host", "b").WithGroup("step").With("name", "deploy")
	first.Info("said", "n", 1)
	g.Expect(line()).To(And(ContainSubstring(`"msg":"said","logger":"hub","host":"a","n":1}`), Not(ContainSubstring("deploy"))))
	second.Info("said", "n", 2)
	g.Expect(line()).To(ContainSubstring(`"msg":"said","logger":"hub","host":"b","step":{"name":"deploy","n":2}}`))
	log.Debug("not said")
	g.Expect(line()).To(BeEmpty())
	slogTo(&out, "debug").Debug("said")
	g.Expect(line()).To(ContainSubstring(`"level":"DEBUG","msg":"said"}`))
	slogTo(&out, "loud").Info("said")
	g.Expect(line()).NotTo(BeEmpty(), "an unknown level means info")
}
