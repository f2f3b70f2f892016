package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/events"
	"github.com/ironflow/ironflow/bmc/health"
	"github.com/ironflow/ironflow/bmc/health/rules"
	"github.com/ironflow/ironflow/bmc/probe"
	"github.com/ironflow/ironflow/bmc/quirks"
)

// access adds the flags by which BMCs are reached.
func (s *settings) access(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&s.username, "username", "", "user at the BMCs; empty: ask without credentials")
	f.StringVar(&s.passwordFile, "password-file", "", "file with the password; empty: the environment variable "+passwordEnv)
	f.StringVar(&s.caFile, "ca-file", "", "PEM file with CAs that are trusted instead of the system's")
	f.StringVar(&s.pin, "pin", "", "SHA-256 of the certificate that the BMC must have, in hexadecimal digits; for a single BMC only")
	f.BoolVar(&s.insecure, "insecure", false, "do not verify certificates of BMCs; the report says so")
	f.BoolVar(&s.basic, "basic", false, "send the password with each request (HTTP basic authentication), instead of opening a session")
	f.Float64Var(&s.rate, "rate", defaultRate, "maximum number of requests per second to each BMC")
}

// limit adds the flag that ends what takes too long.
func (s *settings) limit(c *cobra.Command) {
	c.Flags().DurationVar(&s.timeout, "timeout", defaultTimeout, "time limit for each BMC")
}

// defaultRate is what every BMC stands.
const defaultRate = 2

// looker looks at a BMC and prints what it sees.
type looker func(ctx context.Context, bmc *client.Client, t target, out io.Writer) error

// lookCommand is a command that looks at one BMC.
func lookCommand(c *cobra.Command, look looker) *cobra.Command {
	s := &settings{}
	s.limit(c)
	return s.command(c, look)
}

// followCommand is a command that looks at one BMC until it is interrupted.
func followCommand(c *cobra.Command, look looker) *cobra.Command {
	return (&settings{endless: true}).command(c, look)
}

func (s *settings) command(c *cobra.Command, look looker) *cobra.Command {
	c.Args = cobra.ExactArgs(1)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		s.output, s.parallel = outputTable, 1
		job, err := s.complete(args, cmd.InOrStdin())
		if err != nil {
			return err
		}
		return job.look(cmd.Context(), cmd.OutOrStdout(), look)
	}
	s.access(c)
	return c
}

// look opens the BMC, looks, and ends our session.
func (j *job) look(ctx context.Context, out io.Writer, look looker) error {
	t := j.targets[0]
	c, err := client.New(t.Target, client.Options{Rate: j.rate})
	if err != nil {
		return fmt.Errorf("%s: %w", t.name, err)
	}
	defer func() {
		end, stop := context.WithTimeout(context.WithoutCancel(ctx), closing)
		defer stop()
		_ = c.Close(end) // a session that stays ends by itself; what was asked for has been said
	}()
	limited, stop := ctx, context.CancelFunc(func() {})
	if !j.endless {
		limited, stop = context.WithTimeoutCause(ctx, j.timeout, errTooLong)
	}
	defer stop()
	if err := look(limited, c, t, out); err != nil {
		if limited.Err() != nil {
			err = errors.Join(context.Cause(limited), err)
		}
		f := failed(t.name, err)
		return fmt.Errorf("%s: %s (%s): %s", f.Address, f.Message, f.Kind, f.Next)
	}
	return nil
}

// toIdentify is what a probe needs to find out what a BMC is, and which system is meant.
const toIdentify = 14

// report is what leads to the parts of a machine.
func report(ctx context.Context, c *client.Client, t target) (*v1alpha1.BMCReport, error) {
	return probe.Probe(ctx, c, probe.Options{Address: t.name, System: t.System, Requests: toIdentify, Quirks: matching(quirks.New())})
}

func healthCommand() *cobra.Command {
	return lookCommand(&cobra.Command{Use: "health ADDRESS", Short: "Show the health of each part of a machine, the worst first"},
		func(ctx context.Context, c *client.Client, t target, out io.Writer) error {
			reading, err := read(ctx, c, t, health.List)
			if err != nil {
				return err
			}
			if err := health.WriteParts(out, health.Parts(reading)); err != nil {
				return err
			}
			if reading.Off {
				fmt.Fprintln(out, "the machine is off: its parts are shown when it is on")
			}
			return printMissing(out, reading, slices.DeleteFunc(slices.Clone(rules.Domains), func(d rules.Domain) bool { return d == rules.Log })...)
		})
}

func logCommand() *cobra.Command {
	var limit int
	c := lookCommand(&cobra.Command{Use: "log ADDRESS", Short: "Show the last entries of a machine's hardware logs, oldest first"},
		func(ctx context.Context, c *client.Client, t target, out io.Writer) error {
			return printLog(ctx, c, t, out, limit)
		})
	c.PreRunE = func(*cobra.Command, []string) error { return CheckLimit(limit) }
	c.Flags().IntVar(&limit, "limit", DefaultEntries, LimitUsage)
	return c
}

// DefaultEntries is how many entries of a log are shown.
const DefaultEntries = 50

// LimitUsage is the help of the flag that sets another number.
const LimitUsage = "maximum number of entries to show, the newest ones; 0 for all"

// CheckLimit refuses numbers of entries that cannot be.
func CheckLimit(limit int) error {
	if limit < 0 {
		return fmt.Errorf("--limit is %d: write how many entries to show, or 0 for all", limit)
	}
	return nil
}

// Log prints the last entries of the logs of a machine, oldest first, at most limit of
// them (0: all).
func Log(ctx context.Context, out io.Writer, bmc client.Target, limit int) error {
	j := &job{settings: settings{rate: defaultRate, timeout: defaultTimeout}, targets: []target{{Target: bmc, name: bmc.URL + bmc.System}}}
	return j.look(ctx, out, func(ctx context.Context, c *client.Client, t target, out io.Writer) error {
		return printLog(ctx, c, t, out, limit)
	})
}

func printLog(ctx context.Context, c *client.Client, t target, out io.Writer, limit int) error {
	reading, err := read(ctx, c, t, health.Logs)
	if err != nil {
		return err
	}
	if err := health.WriteEntries(out, health.Entries(reading, limit)); err != nil {
		return err
	}
	return printMissing(out, reading, rules.Log)
}

// read finds the machine, and reads of it what is asked for.
func read(ctx context.Context, c *client.Client, t target, what func(context.Context, health.Getter, *v1alpha1.BMCReport) (rules.Reading, error)) (rules.Reading, error) {
	r, err := report(ctx, c, t)
	if err != nil {
		return rules.Reading{}, err
	}
	reading, err := what(ctx, c, r)
	if err == nil {
		err = ctx.Err()
	}
	return reading, err
}

// printMissing says what could not be read: else an empty list would pass for one of
// a machine that has nothing to say.
func printMissing(out io.Writer, reading rules.Reading, domains ...rules.Domain) error {
	var text strings.Builder
	for _, domain := range domains {
		reason, missing := reading.Missing[domain]
		left := reading.Left[domain]
		switch {
		case missing:
			fmt.Fprintf(&text, "%s could not be read: %s\n", domain, tidy(reason))
		case left.Parts > 0:
			fmt.Fprintf(&text, "%s: %d parts could not be read, of the first: %s\n", domain, left.Parts, tidy(left.Why))
		}
	}
	_, err := io.WriteString(out, text.String())
	return err
}

func eventsCommand() *cobra.Command {
	return followCommand(&cobra.Command{Use: "events ADDRESS", Short: "Show the events of a BMC's event stream, until interrupted"},
		func(ctx context.Context, c *client.Client, t target, out io.Writer) error {
			// Follow is patient; who types an address wants to know at once that nobody is there.
			if err := c.Get(ctx, servicePath+"/", &struct{}{}); err != nil {
				return err
			}
			return events.Follow(ctx, c, t.name, printer{out})
		})
}

// printer writes what a BMC tells, a line each.
type printer struct{ out io.Writer }

// Wake implements [events.Sink].
func (p printer) Wake(w events.Wake) {
	fmt.Fprintf(p.out, "%-8s something is to be read anew\n", w.Kind)
}

// Alert implements [events.Sink].
func (p printer) Alert(a events.Alert) {
	fmt.Fprintf(p.out, "%-8s %s %s\n", a.Severity, a.Time.UTC().Format(time.DateTime), tidy(a.Message))
}
