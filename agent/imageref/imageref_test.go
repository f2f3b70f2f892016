package imageref_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/imageref"
)

func TestValid(t *testing.T) {
	for text, want := range map[string]bool{
		"quay.example/ironflow/agent:v1":            true,
		"quay.example:5000/a/b@sha256:0123456789ab": true,
		"agent:latest":   true,
		"ironflow-agent": true,
		"":               false,
		"--privileged":   false,
		"a b":            false,
		"a;reboot":       false,
		"a\nb":           false,
		"$(reboot)":      false,
	} {
		t.Run(text, func(t *testing.T) { NewWithT(t).Expect(imageref.Valid(text)).To(Equal(want)) })
	}
}
