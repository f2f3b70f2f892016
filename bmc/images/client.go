package images

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"syscall"
)

const (
	maxRedirects = 3
	// maxHeader bounds the header of an answer.
	maxHeader = 64 << 10
)

var (
	errOwnAddress = errors.New("an address of this machine or its link is not asked")
	errRedirects  = errors.New("too many redirects")
	errDowngrade  = errors.New("a redirect from https to another scheme is not followed")
)

// Client makes the HTTP client of a program that asks what the authors of hosts tell it
// to. It follows few redirects, tells their targets nothing of the address before, and
// connects to no address that means something else here than for a BMC: loopback and
// link-local ones, whatever name leads there. It uses no proxy, as BMCs use none.
func Client() *http.Client { return connecting(othersOnly) }

// connecting makes that client with another rule of whom to connect to.
func connecting(to func(network, address string, c syscall.RawConn) error) *http.Client {
	dialer := &net.Dialer{Timeout: patience, Control: to}
	return &http.Client{
		CheckRedirect: careful,
		// Questions are rare, so that no connection is worth keeping.
		Transport: &http.Transport{DialContext: dialer.DialContext, TLSHandshakeTimeout: patience, DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: maxHeader},
	}
}

// careful is asked before each redirect.
func careful(r *http.Request, via []*http.Request) error {
	r.Header.Del("Referer") // the address before may hold a secret
	switch {
	case len(via) > maxRedirects:
		return errRedirects
	case via[0].URL.Scheme == "https" && r.URL.Scheme != "https":
		return errDowngrade
	}
	return nil
}

// othersOnly is asked with the address that a name has led to.
func othersOnly(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	if a := at.Addr().Unmap(); a.IsLoopback() || a.IsLinkLocalUnicast() || a.IsUnspecified() || a.IsMulticast() {
		return errOwnAddress
	}
	return nil
}
