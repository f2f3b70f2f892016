package client_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/bmc/client"
)

func TestPool(t *testing.T) {
	g, f := NewWithT(t), newFake()
	target := serve(t, f)
	pool := client.NewPool(quick())
	first, err := pool.Client("a", target)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(first.Get(t.Context(), system, &struct{}{})).To(Succeed())
	same, err := pool.Client("a", target)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(same).To(BeIdenticalTo(first))
	second, err := pool.Client("b", target)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(second).NotTo(BeIdenticalTo(first))
	g.Expect(second.Get(t.Context(), system, &struct{}{})).To(Succeed())

	for name, change := range map[string]func(*client.Target){
		"password": func(t *client.Target) { t.Password = "x" }, "user": func(t *client.Target) { t.Username = "x" },
		"trust": func(t *client.Target) { t.TLS.Insecure = false }, "CA": func(t *client.Target) { t.TLS.CA = other(g) },
		"pin": func(t *client.Target) { t.TLS.Pin = pinOf(parse(g)) }, "system": func(t *client.Target) { t.System = "/x" },
		"basic": func(t *client.Target) { t.Basic = true }, "address": func(t *client.Target) { t.URL = "https://192.0.2.1" },
	} {
		changed := target
		change(&changed)
		before, err := pool.Client("c", target)
		g.Expect(err).NotTo(HaveOccurred())
		after, err := pool.Client("c", changed)
		g.Expect(err).NotTo(HaveOccurred(), name)
		g.Expect(after).NotTo(BeIdenticalTo(before), name)
	}

	unusable := target
	unusable.URL = "nonsense"
	_, err = pool.Client("a", unusable)
	g.Expect(err).To(HaveOccurred())
	same, err = pool.Client("a", target)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(same).To(BeIdenticalTo(first), "a target that cannot work replaces nothing")

	replaced := target
	replaced.System = "/redfish/v1/Systems/2"
	third, err := pool.Client("a", replaced)
	g.Expect(err).NotTo(HaveOccurred())
	g.Eventually(func() error { return first.Get(t.Context(), system, &struct{}{}) }).Should(MatchError(client.ErrClosed))
	g.Expect(third.Get(t.Context(), system, &struct{}{})).To(Succeed())
	g.Expect(pool.Close(t.Context())).To(Succeed())
	_, _, open := f.counts()
	g.Expect(open).To(BeZero(), "no session is left behind")
}

func TestDropForgetsAVerdict(t *testing.T) {
	g, f := NewWithT(t), newFake()
	target := serve(t, f)
	f.setPassword("another")
	pool := client.NewPool(quick())
	get := func() error {
		c, err := pool.Client("a", target)
		g.Expect(err).NotTo(HaveOccurred())
		return c.Get(t.Context(), system, &struct{}{})
	}
	g.Expect(client.KindOf(get())).To(Equal(client.Credentials))
	f.setPassword(password)
	g.Expect(client.KindOf(get())).To(Equal(client.Credentials))
	pool.Drop("a")
	g.Expect(get()).To(Succeed())
	g.Expect(pool.Close(t.Context())).To(Succeed())
}
