package validations_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/validations"
)

func TestHostnames(t *testing.T) {
	for name, valid := range map[string]bool{
		"master-0": true, "0": true, "1a": true, "a.b-c.d": true, "cat--rahul": true,
		"master-": false, "a.-b": false, "a-.b": false, "a..b": false, "a.": false, "-a": false, "Master": false, "a_b": false, "localhost": false,
		"localhost.localdomain": false, "192.168.1.1": true, "": false,
	} {
		t.Run(name, func(t *testing.T) { NewWithT(t).Expect(validations.ValidHostname(name)).To(Equal(valid)) })
	}
}
