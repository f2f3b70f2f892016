package lab

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"github.com/ironflow/ironflow/test/lab/emulator"
	"github.com/ironflow/ironflow/test/lab/guard"
)

const (
	// emulatorDeadline is how long the emulator may take to start.
	emulatorDeadline = 60 * time.Second
	// emulatorGrace is how long it may take to stop.
	emulatorGrace = 3 * time.Second
)

// EmulatorOptions choose the BMCs.
type EmulatorOptions struct {
	// Port is the port on 127.0.0.1 of all BMCs; 0 takes a free one.
	Port int
	// User and Password are those of all BMCs. Empty ones are "admin" and a
	// random password.
	User, Password string
	// Systems are the machines known at the start; Add brings more.
	Systems []emulator.System
	// NotifierURL receives each change before it is made, as README.md of package
	// emulator says. It has to listen before the first request; empty means that
	// nobody plays the machines.
	NotifierURL string
	// NotifierCA is the PEM certificate of an https notifier; empty is the lab's.
	NotifierCA []byte
	// NotifierUser and NotifierPassword are sent to the notifier if set.
	NotifierUser, NotifierPassword string
}

// Emulator are running BMCs.
type Emulator struct {
	// Client adds and removes systems and sets their power from the machine's
	// side; its URL, User and Password are those of all BMCs.
	*emulator.Client
	// Log is the path of the log.
	Log string

	part *part
}

// Address is a system's address as a BareMetalHost's spec.bmc.address has it,
// for boot by virtual media.
func (e *Emulator) Address(uuid string) string { return "redfish-virtualmedia+" + e.SystemURL(uuid) }

// StartEmulator starts the BMCs.
func (l *Lab) StartEmulator(ctx context.Context, options EmulatorOptions) (*Emulator, error) {
	if err := l.check(ctx, Options{Emulator: &options}); err != nil {
		return nil, err
	}
	python, err := ownEnvironment(ctx, l.cacheDir, l.progress)
	if err != nil {
		return nil, err
	}
	port, err := l.port(options.Port)
	if err != nil {
		return nil, err
	}
	if options.User == "" {
		options.User = "admin"
	}
	if options.Password == "" {
		options.Password = rand.Text()
	}
	dir := filepath.Join(l.Dir, "emulator")
	if err := l.writeEmulator(dir, port, options); err != nil {
		return nil, err
	}
	e := &Emulator{
		Client: &emulator.Client{
			URL: "https://" + loopback(port), User: options.User, Password: options.Password,
			HTTP: l.client("", ""),
		},
		Log: l.logFile("emulator"),
	}
	e.part = &part{
		name: "emulator",
		command: guard.Command{
			Path: filepath.Join(python, "bin", "python"),
			Args: []string{filepath.Join(dir, "emulator.py"), filepath.Join(dir, "config.json")},
			Dir:  dir, Env: pythonEnvironment(),
		},
		log:      e.Log,
		ready:    answers(e.HTTP, e.URL+"/redfish/v1/"),
		deadline: emulatorDeadline,
		grace:    emulatorGrace,
		next:     "see the log; a system given twice or with a wrong field is the usual reason",
	}
	if err := l.run(ctx, e.part, time.Second); err != nil {
		return nil, err
	}
	l.Emulator = e
	return e, nil
}

// writeEmulator makes the emulator's files.
func (l *Lab) writeEmulator(dir string, port int, options EmulatorOptions) error {
	serving, err := l.Authority.Server()
	if err != nil {
		return err
	}
	password, err := passwordFile(options.User, options.Password)
	if err != nil {
		return err
	}
	config := emulator.Config{
		StateDir:    filepath.Join(dir, "state"),
		AuthFile:    filepath.Join(dir, "htpasswd"),
		Systems:     options.Systems,
		ListenHost:  "127.0.0.1",
		ListenPort:  port,
		Certificate: filepath.Join(dir, "tls.crt"),
		Key:         filepath.Join(dir, "tls.key"),
		NotifierURL: options.NotifierURL,
		NotifierCA:  filepath.Join(dir, "notifier.crt"),
	}
	if options.NotifierUser != "" {
		config.NotifierCredentials = options.NotifierUser + ":" + options.NotifierPassword
	}
	if config.Systems, err = normalized(options.Systems); err != nil {
		return err
	}
	content, err := json.Marshal(config)
	if err != nil {
		return fmt.Errorf("encode the emulator's configuration: %w", err)
	}
	notifierCA := options.NotifierCA
	if len(notifierCA) == 0 {
		notifierCA = l.Authority.PEM
	}
	return writeFiles(dir, map[string][]byte{
		"tls.crt": serving.Cert, "tls.key": serving.Key, "htpasswd": password, "notifier.crt": notifierCA,
		"config.json": content, "emulator.py": emulator.Program,
	})
}

// normalized fills in what the emulator wants to find in each system.
func normalized(systems []emulator.System) ([]emulator.System, error) {
	filled := make([]emulator.System, 0, len(systems))
	for _, system := range systems {
		system, err := system.Normalized()
		if err != nil {
			return nil, err
		}
		filled = append(filled, system)
	}
	return filled, nil
}

// Stop ends the BMCs; their state is kept.
func (e *Emulator) Stop(ctx context.Context) { e.part.stop(ctx) }

// Kill ends the BMCs with SIGKILL.
func (e *Emulator) Kill() { e.part.kill() }

// Start starts the BMCs again, with the state and at the address that they had.
func (e *Emulator) Start(ctx context.Context) error { return e.part.start(ctx) }
