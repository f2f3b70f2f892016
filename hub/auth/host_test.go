package auth_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/auth"
)

const (
	hostOne = "bbbbbbbb-0000-4000-8000-000000000001"
	hostTwo = "bbbbbbbb-0000-4000-8000-000000000002"
)

func TestTokensOfHosts(t *testing.T) {
	k := key(t, "a")
	for name, claims := range map[string]auth.Claims{
		"of a registration": {InfraEnvID: "env-1", Generation: 3, HostID: hostOne, Serial: 7},
		"of a machine":      {InfraEnvID: "env-1", Generation: 3, Machine: "02:00:00:00:00:01"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			token, err := k.Token(claims)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(token).To(HavePrefix("ifh1."), "it is told apart from that of an infra-env")
			g.Expect(k.Check(token)).To(Equal(claims))
			_, err = k.Check("ifa1." + token[len("ifh1."):])
			g.Expect(err).To(MatchError(auth.ErrInvalid), "it is not one of an infra-env by its name alone")
			_, err = key(t, "b").Check(token)
			g.Expect(err).To(MatchError(auth.ErrInvalid), "another hub's")
		})
	}
}

func TestTokensOfAnInfraEnvAreAsEver(t *testing.T) {
	g := NewWithT(t)
	token, err := key(t, "a").Token(auth.Claims{InfraEnvID: "env-1", Generation: 3})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(token).To(Equal("ifa1.eyJpbmZyYV9lbnZfaWQiOiJlbnYtMSIsImdlbmVyYXRpb24iOjN9.xLtAJ1aTBGz6A45O8xwMBA7C60T3egUHN2kLBgruUkg"), "hosts that run keep theirs")
}

func TestWhoSpeaksForAHost(t *testing.T) {
	shared := auth.Claims{InfraEnvID: "env-1"}
	own := func(host string, serial int64) auth.Claims {
		return auth.Claims{InfraEnvID: "env-1", HostID: host, Serial: serial}
	}
	machine := func(mac string) auth.Claims { return auth.Claims{InfraEnvID: "env-1", Machine: mac} }
	const mac = "02:00:00:00:00:01"
	for name, tc := range map[string]struct {
		bearer          auth.Bearer
		token           auth.Claims
		takes, outlived bool
	}{
		"any agent of an infra-env":               {auth.Bearer{Serial: 5}, shared, true, false},
		"any agent, of a host from before":        {auth.Bearer{}, shared, true, false},
		"any agent, of a host that has a token":   {auth.Bearer{Serial: 5, Exchanged: true}, shared, false, false},
		"any agent, of a machine's own image":     {auth.Bearer{Machine: mac}, shared, false, false},
		"the host":                                {auth.Bearer{Serial: 5, Exchanged: true}, own(hostOne, 5), true, false},
		"the host, of a later day than the store": {auth.Bearer{Serial: 5, Exchanged: true}, own(hostOne, 6), true, false},
		"the host as it was registered before":    {auth.Bearer{Serial: 5, Exchanged: true}, own(hostOne, 4), false, true},
		"another host":                            {auth.Bearer{Serial: 5, Exchanged: true}, own(hostTwo, 5), false, false},
		"a host whose machine has an image":       {auth.Bearer{Machine: mac}, own(hostOne, 9), false, false},
		"the machine":                             {auth.Bearer{Machine: mac}, machine(mac), true, false},
		"another machine":                         {auth.Bearer{Machine: mac}, machine("02:00:00:00:00:02"), false, false},
		"a machine, of another's host":            {auth.Bearer{Serial: 5}, machine(mac), false, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(tc.bearer.Takes(hostOne, tc.token)).To(Equal(tc.takes))
			g.Expect(tc.bearer.Outlived(hostOne, tc.token)).To(Equal(tc.outlived))
		})
	}
}
