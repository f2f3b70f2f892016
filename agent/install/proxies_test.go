package install_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/install"
	"github.com/ironflow/ironflow/hub/wire"
)

func TestProxiesOfAnOrderBeforeTheAgents(t *testing.T) {
	g := NewWithT(t)
	for _, name := range []string{"HTTP_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"} {
		t.Setenv(name, "")
	}
	t.Setenv("HTTPS_PROXY", "http://own.example:3128")
	g.Expect(install.Proxies(nil)).To(Equal([]string{"HTTPS_PROXY=http://own.example:3128"}))
	ordered := "http://ordered.example:3128"
	g.Expect(install.Proxies(&wire.Proxy{HTTPProxy: &ordered})).To(Equal([]string{"HTTP_PROXY=" + ordered, "http_proxy=" + ordered}))
}
