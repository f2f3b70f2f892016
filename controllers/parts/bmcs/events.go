package bmcs

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

	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/events"
	"github.com/ironflow/ironflow/controllers/bmc"
	"github.com/ironflow/ironflow/controllers/bmcevents"
	"github.com/ironflow/ironflow/controllers/bmcrotation"
	"github.com/ironflow/ironflow/controllers/parts"
	"github.com/ironflow/ironflow/hub/auth"
	"github.com/ironflow/ironflow/hub/pki"
)

// eventSettings tell how BMCs push their events.
type eventSettings v1alpha1.BMCEvents

// leastEvery is the least time between two looks at a subscription.
const leastEvery = time.Minute

// checkEvents refuses what cannot work. ownFiles says that there is a data folder for what is
// not given.
func checkEvents(b v1alpha1.BMC, e v1alpha1.BMCEvents, ownFiles bool) error {
	if e.Address == "" {
		if e.PublishURL != "" {
			return errors.New("--bmc-events-publish-url is given without --bmc-events-addr: set that to the address to listen on, such as :8092")
		}
		return nil
	}
	u, err := url.Parse(e.PublishURL)
	switch {
	case !b.Enabled:
		return errors.New("--bmc-events-addr needs --bmc: BMCs are subscribed to with what is known of them")
	case e.PublishURL == "":
		return errors.New("--bmc-events-addr needs --bmc-events-publish-url: the URL by which BMCs reach it, such as https://ironflow.example:8092")
	case err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return errors.New("--bmc-events-publish-url must be https://HOST[:PORT], without credentials and query: BMCs send no events in the clear")
	case e.Every.Duration < leastEvery:
		return fmt.Errorf("--bmc-events-every %s: want at least %s, BMCs bear no more", e.Every.Duration, leastEvery)
	case e.HealthEvery.Duration < 0:
		return fmt.Errorf("--bmc-events-health-every %s: want 0 or more", e.HealthEvery.Duration)
	case !ownFiles && (e.CertDir == "" || e.KeyFile == ""):
		return errors.New("--bmc-events-addr needs --bmc-events-cert-dir and --bmc-events-key-file here, where there is no data folder to make them in")
	}
	return nil
}

// keys are those of hosts' addresses: from the given file, or one that is made once.
func (e eventSettings) keys(dataDir string) (events.Keys, error) {
	read, file, flag := os.ReadFile, e.KeyFile, "--bmc-events-key-file"
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
func (e eventSettings) tls(own pki.Files, s v1alpha1.TLS) (*tls.Config, error) {
	files := own
	if e.CertDir != "" {
		files = pki.Files{Cert: filepath.Join(e.CertDir, "tls.crt"), Key: filepath.Join(e.CertDir, "tls.key")}
	}
	config, err := parts.ServerTLS(files, s)
	if err != nil {
		return nil, fmt.Errorf("receiver of BMC events: %w", err)
	}
	return config, nil
}

// makeEvents registers the controller of subscriptions and, on every replica, the
// receiver; nil where BMCs push nothing.
func (p *Part) makeEvents(options bmc.Options, asking client.Options) (*bmcevents.Dispatcher, error) {
	e := eventSettings(p.Settings.BMCEvents)
	if e.Address == "" {
		return nil, nil
	}
	keys, err := e.keys(p.Settings.Store.DataDir)
	if err != nil {
		return nil, err
	}
	config, err := e.tls(p.Cert, p.Settings.TLS)
	if err != nil {
		return nil, err
	}
	// A host that leaves has its client dropped by the controller of BMCs.
	parting, apart := client.NewPool(asking), options
	apart.BMCs = bmcrotation.Guard{Pool: parting, Reader: p.Manager.GetClient()}
	dispatcher, err := bmcevents.Setup(p.Manager, bmcevents.Options{
		Keys: keys, URL: e.PublishURL, Connect: bmc.Connect(p.Manager, options), Parting: bmc.Connect(p.Manager, apart), Parted: parting.Drop,
		Every: e.Every.Duration, Metrics: metrics.Registry, Now: options.Now,
	})
	if err != nil {
		return nil, err
	}
	opened := &parts.Door{}
	open := func(ctx context.Context) (net.Listener, error) {
		l, err := parts.Listen(ctx, e.Address)
		if err == nil {
			opened.Open()
		}
		return l, err
	}
	return dispatcher, errors.Join(
		p.Manager.Add(closing(parting)), p.Manager.AddReadyzCheck("bmc-events", opened.Check),
		p.Manager.Add(parts.Everywhere(func(ctx context.Context) error { return dispatcher.Run(ctx, p.Manager.GetCache(), open, config) })),
	)
}

// closing ends the sessions of a pool with the program.
func closing(pool *client.Pool) parts.Everywhere {
	return func(ctx context.Context) error {
		<-ctx.Done()
		ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), closeSessions)
		defer stop()
		return pool.Close(ctx)
	}
}
