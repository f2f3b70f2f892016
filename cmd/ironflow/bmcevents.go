package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/events"
	"github.com/ironflow/ironflow/controllers/bmc"
	"github.com/ironflow/ironflow/controllers/bmcevents"
	"github.com/ironflow/ironflow/controllers/bmcrotation"
	"github.com/ironflow/ironflow/hub/auth"
	"github.com/ironflow/ironflow/hub/pki"
)

// eventSettings tell whether and how BMCs push their events.
type eventSettings struct {
	// addr is where they are taken, url how BMCs reach that; both empty for not at all.
	addr, url string
	// certDir and keyFile may be empty where there is a data folder.
	certDir, keyFile string
	// every is the time between two looks at a subscription, healthEvery that between two
	// readings of a host whose BMC tells.
	every, healthEvery time.Duration
}

func (e *eventSettings) settings() []setting {
	return []setting{
		{"bmc-events-addr", "IRONFLOW_BMC_EVENTS_ADDR", "", "address of the listener that BMCs push their events to, such as :8092; empty: BMCs are asked instead; see docs/bmc-watch.md", text(&e.addr)},
		{"bmc-events-publish-url", "IRONFLOW_BMC_EVENTS_PUBLISH_URL", "", "URL by which BMCs reach the listener of bmc-events-addr, such as https://ironflow.example:8092", text(&e.url)},
		{"bmc-events-cert-dir", "IRONFLOW_BMC_EVENTS_CERT_DIR", "", "folder with tls.crt and tls.key of the listener of bmc-events-addr; empty for a certificate of Ironflow's own, where there is a data folder", text(&e.certDir)},
		{"bmc-events-key-file", "IRONFLOW_BMC_EVENTS_KEY_FILE", "", "file with at least 32 random bytes that the secret addresses of hosts are made of, the same for all replicas; empty for one in the data folder", text(&e.keyFile)},
		{"bmc-events-every", "IRONFLOW_BMC_EVENTS_EVERY", "30m0s", "time between two looks at the event subscription at a BMC, each of one request while it is in order, and two more where the BMC has ended the session", duration(&e.every)},
		{"bmc-events-health-every", "IRONFLOW_BMC_EVENTS_HEALTH_EVERY", "4h0m0s", "time between two readings of a machine's health whose BMC pushes events, instead of bmc-health-every", duration(&e.healthEvery)},
	}
}

// on reports whether BMCs push events.
func (e *eventSettings) on() bool { return e.addr != "" }

// leastEvery is the least time between two looks at a subscription.
const leastEvery = time.Minute

// checkEvents refuses what cannot work. ownFiles says that there is a data folder for what is
// not given.
func (b *bmcSettings) checkEvents(ownFiles bool) error {
	e := &b.events
	if !e.on() {
		if e.url != "" {
			return errors.New("--bmc-events-publish-url is given without --bmc-events-addr: set that to the address to listen on, such as :8092")
		}
		return nil
	}
	u, err := url.Parse(e.url)
	switch {
	case !b.on:
		return errors.New("--bmc-events-addr needs --bmc: BMCs are subscribed to with what is known of them")
	case e.url == "":
		return errors.New("--bmc-events-addr needs --bmc-events-publish-url: the URL by which BMCs reach it, such as https://ironflow.example:8092")
	case err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return errors.New("--bmc-events-publish-url must be https://HOST[:PORT], without credentials and query: BMCs send no events in the clear")
	case e.every < leastEvery:
		return fmt.Errorf("--bmc-events-every %s: want at least %s, BMCs bear no more", e.every, leastEvery)
	case e.healthEvery < 0:
		return fmt.Errorf("--bmc-events-health-every %s: want 0 or more", e.healthEvery)
	case !ownFiles && (e.certDir == "" || e.keyFile == ""):
		return errors.New("--bmc-events-addr needs --bmc-events-cert-dir and --bmc-events-key-file here, where there is no data folder to make them in")
	}
	return nil
}

// keys are those of hosts' addresses: from the given file, or one that is made once.
func (e *eventSettings) keys(dataDir string) (events.Keys, error) {
	read, file, flag := os.ReadFile, e.keyFile, "--bmc-events-key-file"
	if file == "" {
		read, file, flag = auth.LoadSecret, filepath.Join(dataDir, "events.key"), "the key of BMC events"
	}
	secret, err := read(file)
	if err != nil {
		return events.Keys{}, fmt.Errorf("%s: %w", flag, err)
	}
	keys, err := events.NewKeys(secret)
	if err != nil {
		return keys, fmt.Errorf("%s %s: %w", flag, file, err)
	}
	return keys, nil
}

// tls is the listener's: the given certificate, or our own.
func (e *eventSettings) tls(own pki.Files, s tlsSettings) (*tls.Config, error) {
	files := own
	if e.certDir != "" {
		files = pki.Files{Cert: filepath.Join(e.certDir, "tls.crt"), Key: filepath.Join(e.certDir, "tls.key")}
	}
	config, err := serverTLS(files, s)
	if err != nil {
		return nil, fmt.Errorf("receiver of BMC events: %w", err)
	}
	return config, nil
}

// makeEvents registers the controller of subscriptions and, on every replica, the
// receiver; nil where BMCs push nothing.
func (p *program) makeEvents(options bmc.Options, asking client.Options) (*bmcevents.Ears, error) {
	e := &p.settings.bmcs.events
	if !e.on() {
		return nil, nil
	}
	keys, err := e.keys(p.settings.dataDir)
	if err != nil {
		return nil, err
	}
	config, err := e.tls(p.cert, p.settings.tls)
	if err != nil {
		return nil, err
	}
	// A host that leaves has its client dropped by the controller of BMCs.
	parting, apart := client.NewPool(asking), options
	apart.BMCs = bmcrotation.Guard{Pool: parting, Reader: p.manager.GetClient()}
	ears, err := bmcevents.Setup(p.manager, bmcevents.Options{
		Keys: keys, URL: e.url, Connect: bmc.Connect(p.manager, options), Parting: bmc.Connect(p.manager, apart), Parted: parting.Drop,
		Every: e.every, Metrics: metrics.Registry, Now: options.Now,
	})
	if err != nil {
		return nil, err
	}
	opened := &door{}
	open := func(ctx context.Context) (net.Listener, error) {
		l, err := listen(ctx, e.addr)
		opened.opened.Store(err == nil)
		return l, err
	}
	return ears, errors.Join(
		p.manager.Add(closing(parting)), p.manager.AddReadyzCheck("bmc-events", opened.check),
		p.manager.Add(everywhere(func(ctx context.Context) error { return ears.Run(ctx, p.manager.GetCache(), open, config) })),
	)
}

// closing ends the sessions of a pool with the program.
func closing(pool *client.Pool) everywhere {
	return func(ctx context.Context) error {
		<-ctx.Done()
		ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), closeSessions)
		defer stop()
		return pool.Close(ctx)
	}
}
