package redact_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/redact"
)

func TestSecrets(t *testing.T) {
	for _, line := range []string{
		"POST http://x/v1/commands?agent_token=hunter2&wait=true",
		"PULL_SECRET_TOKEN=hunter2",
		"Authorization: Bearer hunter2",
		`{"auth": "hunter2"}`,
		"pulling from https://user:hunter2@registry.example/v2",
	} {
		t.Run(line, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(string(redact.Secrets([]byte(line)))).To(And(ContainSubstring("***"), Not(ContainSubstring("hunter2"))))
		})
	}
	NewWithT(t).Expect(string(redact.Secrets([]byte("disk sda: 5 errors")))).To(Equal("disk sda: 5 errors"))
}
