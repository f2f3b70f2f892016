// Command images measures the image server against nginx on the same file: the
// same ranges, the same number of connections, alternating rounds on loopback. Of
// the settings of nginx the best one for each load is searched first, and printed.
// The last column is the processor time of the server for one request.
//
// It prints a table and, as its last line, JSON with the ratios. The server
// under test runs in a process of its own, as nginx does, and collects garbage as
// the program does. Of every 64 answers the bytes of one are compared with what the
// image is. Without nginx only our own figures are printed. A limit that is missed is an error.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/ironflow/ironflow/hub/pki"
	"github.com/ironflow/ironflow/test/media"
)

// bench is one kind of load.
type bench struct {
	name    string
	conns   int
	size    int // bytes of a range; 0 is the whole file
	newConn bool
	tls     bool // HTTPS; both servers use the cipher of [cipherSuite]
	seconds float64
}

func main() {
	var o options
	serve := flag.String("serve", "", "internal: serve images over this base")
	tlsDir := flag.String("tls", "", "internal: folder of the certificate")
	flag.IntVar(&o.hosts, "hosts", 1000, "images to build")
	flag.IntVar(&o.rounds, "rounds", 9, "rounds; the median counts")
	flag.Float64Var(&o.seconds, "seconds", 2, "length of one measurement")
	flag.StringVar(&o.only, "only", "", "one load instead of all")
	flag.StringVar(&o.workers, "nginx-workers", "auto,1", "numbers of nginx's processes to try: auto uses all cores, one leaves the others to the client")
	flag.IntVar(&o.rootfs, "rootfs-mib", 1200, "size of the base's root file system in MiB")
	flag.Parse()
	var err error
	if *serve != "" {
		err = serveImages(*serve, *tlsDir, o.hosts)
	} else {
		err = o.run(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench images:", err)
		os.Exit(1)
	}
}

type options struct {
	hosts, rounds, rootfs int
	seconds               float64
	only, workers         string
}

func (o options) benches() []bench {
	all := []bench{
		{name: "r64k", conns: 64, size: 64 << 10, seconds: o.seconds},
		{name: "r512k", conns: 16, size: 512 << 10, seconds: o.seconds},
		{name: "r2k", conns: 128, size: 2 << 10, seconds: o.seconds},
		{name: "stream", conns: 1, seconds: o.seconds},
		{name: "newconn", conns: 16, size: 64 << 10, newConn: true, seconds: o.seconds},
		{name: "https64k", conns: 64, size: 64 << 10, tls: true, seconds: o.seconds},
		{name: "https512k", conns: 16, size: 512 << 10, tls: true, seconds: o.seconds},
	}
	return slices.DeleteFunc(all, func(b bench) bool { return o.only != "" && b.name != o.only })
}

func (o options) run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "bench-images-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	base := filepath.Join(dir, "base.iso")
	if err := media.WriteFile(base, media.Options{RootfsBytes: o.rootfs << 20}); err != nil {
		return err
	}
	if err := makePrograms(base); err != nil {
		return err
	}
	cert, err := pki.Ensure(filepath.Join(dir, "tls"), []string{"127.0.0.1"}, time.Now())
	if err != nil {
		return err
	}
	own, err := startOwn(ctx, base, filepath.Dir(cert.Cert), o.hosts)
	if err != nil {
		return err
	}
	defer own.stop()
	var references []*target
	if program, err := exec.LookPath("nginx"); err == nil {
		references, err = startNginx(ctx, program, dir, base, o.workers, cert)
		defer stopAll(references)
		if err != nil {
			return err
		}
	} else {
		fmt.Println("nginx is not installed: only our own figures (Debian: apt-get install nginx-light)")
	}
	return o.measure(ctx, own, references)
}

// measure runs all benches and prints the report.
func (o options) measure(ctx context.Context, own *target, references []*target) error {
	m := measured{report: map[string]any{"hosts": o.hosts, "build_ms": own.buildMS}}
	for _, b := range o.benches() {
		targets := []*target{own}
		if len(references) > 0 {
			targets = append(targets, best(ctx, references, b))
		}
		if err := m.rounds(ctx, b, o.rounds, targets); err != nil {
			return err
		}
	}
	rss, err := own.rss()
	if err != nil {
		return err
	}
	if len(m.allocs) > 0 {
		m.report["allocs"] = round(median(m.allocs))
	}
	m.report["rss_mib"], m.report["wrong"], m.report["dropped"], m.report["compared"] = rss, m.wrong, m.dropped, m.compared
	line, err := json.Marshal(m.report)
	if err != nil {
		return err
	}
	fmt.Println(string(line))
	return verdict(m)
}

// measured is what all benches have given.
type measured struct {
	report                   map[string]any
	wrong, dropped, compared int
	allocs                   []float64 // per request of r64k
}

// rounds runs a bench against all targets in turn, of which the first is our own. Every second round has them the
// other way round, and a server's rate is compared with the other's of the same round: the computer's own pace, which
// changes by a tenth within a minute, is then the same for both.
func (m *measured) rounds(ctx context.Context, b bench, rounds int, targets []*target) error {
	rates, tails := map[*target][]float64{}, map[*target][]float64{}
	fmt.Printf("%-9s %-10s %10s %10s %9s %9s %9s\n", "load", "server", "req/s", "MB/s", "p50 ms", "p99 ms", "CPU us")
	var ratios []float64
	for n := range rounds {
		order := slices.Clone(targets)
		if n%2 == 1 {
			slices.Reverse(order)
		}
		for _, t := range order {
			before, err1 := t.mallocs()
			begun, err2 := t.cpu()
			r, err := load(ctx, t, b)
			ended, err3 := t.cpu()
			after, err4 := t.mallocs()
			if err = errors.Join(err1, err2, err, err3, err4); err != nil {
				return err
			}
			spent := float64((ended - begun).Microseconds()) / float64(len(r.latencies))
			if t == targets[0] && b.name == "r64k" {
				m.allocs = append(m.allocs, float64(after-before)/float64(len(r.latencies)))
			}
			rates[t], tails[t] = append(rates[t], r.rate()), append(tails[t], r.percentile(99))
			m.wrong, m.dropped, m.compared = m.wrong+r.wrong, m.dropped+r.dropped, m.compared+r.compared
			fmt.Printf("%-9s %-10s %10.0f %10.0f %9.2f %9.2f %9.1f\n", b.name, t.name, r.rate(), r.megabytes(), r.percentile(50), r.percentile(99), spent)
		}
		if len(targets) > 1 {
			ratios = append(ratios, rates[targets[0]][n]/rates[targets[1]][n])
		}
	}
	own := median(rates[targets[0]])
	m.report[b.name] = own
	if b.name == "r64k" {
		m.report["r64k_p99_ms"] = median(tails[targets[0]])
	}
	if len(targets) > 1 {
		m.report[b.name+"_vs_nginx"] = round(median(ratios))
		if b.name == "r64k" {
			m.report["nginx_r64k_p99_ms"] = median(tails[targets[1]])
		}
	}
	return nil
}

func median(all []float64) float64 {
	slices.Sort(all)
	return all[len(all)/2]
}

func round(x float64) float64 { return float64(int(x*1000+0.5)) / 1000 }

// result is one measurement.
type result struct {
	elapsed        time.Duration
	bytes          int64
	latencies      []time.Duration
	wrong, dropped int
	compared       int // answers whose bytes were compared
}

func (r *result) rate() float64 { return float64(len(r.latencies)) / r.elapsed.Seconds() }

func (r *result) megabytes() float64 { return float64(r.bytes) / 1e6 / r.elapsed.Seconds() }

func (r *result) percentile(p int) float64 {
	if len(r.latencies) == 0 {
		return 0
	}
	slices.Sort(r.latencies)
	return float64(r.latencies[(len(r.latencies)-1)*p/100].Microseconds()) / 1000
}
