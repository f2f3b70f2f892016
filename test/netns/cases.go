package netns

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/steps"
	"github.com/ironflow/ironflow/hub/wire"
)

// Case is a step in a topology and what it must answer, as a file of JSON that
// is written by hand.
type Case struct {
	// Name is the file's, without extension.
	Name string `json:"-"`
	// Host is where the step runs.
	Host string        `json:"host"`
	Step wire.StepType `json:"step"`
	// Args are the step's arguments; what is no string is sent as its JSON text.
	Args []json.RawMessage `json:"args"`
	// ExitCode is 0 when left out.
	ExitCode int64 `json:"exit_code"`
	// Output is the reply's, null for none. What is different in each run stands
	// there as the rules of [readable] say.
	Output json.RawMessage `json:"output"`
	// Eventually repeats the step until it answers so, for what a daemon needs a
	// while for.
	Eventually bool `json:"eventually"`
	// Error is part of the reply's error text.
	Error string `json:"error"`
}

// ReadCases reads the cases of a folder, sorted by name.
func ReadCases(t testing.TB, files fs.FS, dir string) []Case {
	t.Helper()
	names, err := fs.Glob(files, path.Join(dir, "*.json"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no cases in %s: %v", dir, err)
	}
	slices.Sort(names)
	var cases []Case
	for _, name := range names {
		raw, err := fs.ReadFile(files, name)
		if err != nil {
			t.Fatal(err)
		}
		c := Case{Name: strings.TrimSuffix(path.Base(name), ".json")}
		decoder := json.NewDecoder(bytes.NewReader(raw))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&c); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		cases = append(cases, c)
	}
	return cases
}

// Run does the step in the network and compares its reply.
func (c Case) Run(t *testing.T, network *Net, o Options) {
	t.Helper()
	g := gomega.NewWithT(t)
	args := make([]string, 0, len(c.Args))
	for _, raw := range c.Args {
		text, err := argument(raw)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		args = append(args, text)
	}
	answers := func(g gomega.Gomega) { c.compare(g, network.Host(c.Host).Step(o, c.Step, args...)) }
	if c.Eventually {
		g.Eventually(answers).WithTimeout(patience).WithPolling(time.Second).Should(gomega.Succeed())
		return
	}
	answers(g)
}

func (c Case) compare(g gomega.Gomega, result steps.Result) {
	g.Expect(result.Exit).To(gomega.Equal(c.ExitCode), result.Error)
	if c.Error == "" {
		g.Expect(result.Error).To(gomega.BeEmpty())
	}
	g.Expect(result.Error).To(gomega.ContainSubstring(c.Error))
	if len(c.Output) == 0 || string(c.Output) == "null" {
		g.Expect(result.Output).To(gomega.BeEmpty())
		return
	}
	output, err := readable(result.Output)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(output).To(gomega.MatchJSON(c.Output))
}

// argument is a step's argument: always a string, mostly of JSON.
func argument(raw json.RawMessage) (string, error) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text, nil
	}
	var compact bytes.Buffer
	err := json.Compact(&compact, raw)
	return compact.String(), err
}
