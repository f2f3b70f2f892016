package dhcplease

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"
	"github.com/insomniacslk/dhcp/dhcpv4/nclient4"
)

const (
	// firstTry is how long the first packet may wait for an answer; the time doubles with each of the tries.
	firstTry = 2 * time.Second
	tries    = 4
	// rebootTries are those of an INIT-REBOOT, 14 s in all, before a new lease is asked for.
	rebootTries = 3
	// maxNaks bounds how often a server may take its own offer back.
	maxNaks = 2
)

// client gets leases over one link.
type client struct {
	link string
	mac  net.HardwareAddr
	log  *slog.Logger
	// listen opens the socket; nil means one on the link.
	listen func() (net.PacketConn, error)
}

// open makes a client of the protocol that sends a message that often.
func (c client) open(tries int) (*nclient4.Client, error) {
	listen := c.listen
	if listen == nil {
		listen = func() (net.PacketConn, error) { return nclient4.NewRawUDPConn(c.link, nclient4.ClientPort) }
	}
	conn, err := listen()
	if err != nil {
		return nil, fmt.Errorf("listen for DHCP servers on %s: %w", c.link, err)
	}
	return nclient4.NewWithConn(conn, c.mac, nclient4.WithTimeout(firstTry), nclient4.WithRetry(tries))
}

// hostName is what the server is told: the MAC with dashes and the link's name.
func (c client) hostName() string {
	return strings.ReplaceAll(c.mac.String(), ":", "-") + "-" + c.link
}

// modifiers are what every message has.
func (c client) modifiers() []dhcpv4.Modifier {
	return []dhcpv4.Modifier{dhcpv4.WithOption(dhcpv4.OptHostName(c.hostName())), withParameters}
}

// withParameters replaces what a library asks for by what a lease keeps.
func withParameters(m *dhcpv4.DHCPv4) {
	m.Options.Update(dhcpv4.OptParameterRequestList(wanted()...))
}

// get returns the lease for the given one, or a new one. A lease that is still
// valid is asked for as a rebooted host does, by requests only; a server that
// refuses it, or none that answers, leads to a new one.
func (c client) get(ctx context.Context, given Lease) (Lease, error) {
	if given.valid(time.Now()) {
		ack, err := c.reboot(ctx, given.Address)
		if err == nil {
			return leaseOf(ack, c.link, time.Now())
		}
		if ctx.Err() != nil {
			return Lease{}, err
		}
		c.log.Info("a lease is not renewed; asking for a new one", "link", c.link, "address", given.Address, "reason", err)
	}
	return c.discover(ctx, given.Address)
}

// errRefused is a server's no.
var errRefused = errors.New("the server refused the address")

// reboot asks for an address that this link had: broadcast, without a server's
// id, RFC 2131, section 4.3.2.
func (c client) reboot(ctx context.Context, address netip.Addr) (*dhcpv4.DHCPv4, error) {
	conn, err := c.open(rebootTries)
	if err != nil {
		return nil, err
	}
	defer conn.Close() //nolint:errcheck // nothing is lost with it
	request, err := dhcpv4.New(append(c.modifiers(),
		dhcpv4.WithHwAddr(c.mac), dhcpv4.WithMessageType(dhcpv4.MessageTypeRequest),
		dhcpv4.WithOption(dhcpv4.OptRequestedIPAddress(address.AsSlice())),
		dhcpv4.WithOption(dhcpv4.OptMaxMessageSize(nclient4.MaxMessageSize)))...)
	if err != nil {
		return nil, err
	}
	answer, err := conn.SendAndRead(ctx, nclient4.DefaultServers, request, nclient4.IsMessageType(dhcpv4.MessageTypeAck, dhcpv4.MessageTypeNak))
	switch {
	case err != nil:
		return nil, cause(ctx, err)
	case answer.MessageType() == dhcpv4.MessageTypeNak:
		return nil, errRefused
	}
	return answer, nil
}

// discover gets a new lease; an address that is wished for is told to the server.
func (c client) discover(ctx context.Context, wish netip.Addr) (Lease, error) {
	conn, err := c.open(tries)
	if err != nil {
		return Lease{}, err
	}
	defer conn.Close() //nolint:errcheck // nothing is lost with it
	for range maxNaks {
		modifiers := c.modifiers()
		if wish.IsValid() {
			modifiers = append(modifiers, dhcpv4.WithOption(dhcpv4.OptRequestedIPAddress(wish.AsSlice())))
		}
		offer, err := conn.DiscoverOffer(ctx, modifiers...)
		if err != nil {
			return Lease{}, cause(ctx, err)
		}
		lease, err := conn.RequestFromOffer(ctx, offer, c.modifiers()...)
		if _, refused := errors.AsType[*nclient4.ErrNak](err); refused {
			wish = netip.Addr{}
			continue
		}
		if err != nil {
			return Lease{}, cause(ctx, err)
		}
		return leaseOf(lease.ACK, c.link, time.Now())
	}
	return Lease{}, errRefused
}

// cause says why waiting ended.
func cause(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, nclient4.ErrNoResponse):
		return errors.New("no DHCP server answered")
	default:
		return fmt.Errorf("ask the DHCP server: %w", err)
	}
}
