package cli

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ironflow/ironflow/bmc/client"
)

// passwordEnv names the environment variable with the password.
const passwordEnv = "IRONFLOW_BMC_PASSWORD" //nolint:gosec // a variable's name

// defaultTimeout is ample for the default budget at the default rate on a slow BMC.
const defaultTimeout = 5 * time.Minute

// The forms of output.
const (
	outputTable = "table"
	outputJSON  = "json"
	outputYAML  = "yaml"
)

// settings are the flags.
type settings struct {
	file, username, passwordFile string
	caFile, pin                  string
	insecure, basic, expand      bool
	output                       string
	parallel, requests           int
	rate                         float64
	timeout                      time.Duration
	// endless says that no timeout counts.
	endless bool
}

// complete checks the flags and reads the files that they name.
func (s *settings) complete(args []string, stdin io.Reader) (*job, error) {
	switch {
	case s.output != outputTable && s.output != outputJSON && s.output != outputYAML:
		return nil, fmt.Errorf("--output %q is none of table, json and yaml", s.output)
	case s.parallel < 1:
		return nil, fmt.Errorf("--parallel is %d: set it to 1 or more", s.parallel)
	case s.rate <= 0:
		return nil, fmt.Errorf("--rate is %g: set it to more than 0", s.rate)
	case s.timeout <= 0 && !s.endless:
		return nil, fmt.Errorf("--timeout is %s: set it to more than 0", s.timeout)
	}
	targets, err := s.targets(args, stdin)
	if err != nil {
		return nil, err
	}
	if s.pin != "" && len(targets) > 1 {
		return nil, fmt.Errorf("--pin is one BMC's certificate, and there are %d addresses: probe them one by one, or trust their authority with --ca-file", len(targets))
	}
	trust := client.Trust{Pin: s.pin, Insecure: s.insecure}
	if s.caFile != "" {
		if trust.CA, err = os.ReadFile(s.caFile); err != nil {
			return nil, fmt.Errorf("--ca-file: %w", err)
		}
	}
	password, err := s.password()
	if err != nil {
		return nil, err
	}
	for i := range targets {
		t := &targets[i]
		if t.bad != nil {
			continue
		}
		t.Username, t.Password, t.TLS, t.Basic = s.username, password, trust, s.basic
		// The trust and the URL are checked before anybody is asked.
		if _, err := client.New(t.Target, client.Options{}); err != nil {
			return nil, fmt.Errorf("%s: %w", t.name, err)
		}
	}
	return &job{settings: *s, targets: targets, single: s.file == "" && len(targets) == 1}, nil
}

// password reads the password that goes with the user name.
func (s *settings) password() (client.Secret, error) {
	if s.username == "" {
		if s.passwordFile != "" {
			return "", errors.New("--password-file needs --username")
		}
		return "", nil
	}
	if s.passwordFile == "" {
		if password := os.Getenv(passwordEnv); password != "" {
			return client.Secret(password), nil
		}
		return "", fmt.Errorf("--username needs a password: set %s, or name a file with --password-file", passwordEnv)
	}
	raw, err := os.ReadFile(s.passwordFile)
	if err != nil {
		return "", fmt.Errorf("--password-file: %w", err)
	}
	password := strings.TrimRight(string(raw), "\r\n")
	if password == "" {
		return "", fmt.Errorf("--password-file: %s is empty", s.passwordFile)
	}
	return client.Secret(password), nil
}

// targets are the addresses of the arguments and of the list, each once. A line of the list
// that is no address is one of them, as the others are probed all the same; where no line
// is one, that is an error.
func (s *settings) targets(args []string, stdin io.Reader) ([]target, error) {
	var all []target
	seen := map[string]bool{}
	add := func(t target) {
		if key := t.name; !seen[key] {
			seen[key] = true
			all = append(all, t)
		}
	}
	for _, arg := range args {
		t, err := parseTarget(arg)
		if err != nil {
			return nil, err
		}
		add(t)
	}
	if s.file != "" {
		if err := readList(s.file, stdin, add); err != nil {
			return nil, err
		}
	}
	if len(all) == 0 {
		return nil, errors.New("no BMC to probe: give addresses, or a list of them with --file")
	}
	if !slices.ContainsFunc(all, func(t target) bool { return t.bad == nil }) {
		return nil, fmt.Errorf("%s: %w", all[0].name, all[0].bad)
	}
	return all, nil
}

// readList reads a file with one address a line. Empty lines and those that begin
// with # are passed over.
func readList(name string, stdin io.Reader, add func(target)) error {
	in := stdin
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return fmt.Errorf("--file: %w", err)
		}
		defer file.Close()
		in = file
	}
	lines := bufio.NewScanner(in)
	for number := 1; lines.Scan(); number++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		t, err := parseTarget(line)
		if err != nil {
			// The line itself may hold a password.
			t = target{name: fmt.Sprintf("%s, line %d", cmp.Or(strings.TrimPrefix(name, "-"), "standard input"), number), bad: err}
		}
		add(t)
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("--file: %w", err)
	}
	return nil
}
