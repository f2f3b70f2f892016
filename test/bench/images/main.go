// Command images measures the image server against nginx on the same file: the
// same ranges, the same number of connections, alternating rounds on loopback.
//
// It prints a table and, as its last line, JSON with the ratios. The server
// under test runs in a process of its own, as nginx does. Of every 64 answers the
// bytes of one are compared with what the image is. Without nginx only our own
// figures are printed.
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
	flag.IntVar(&o.rounds, "rounds", 3, "rounds; the median counts")
	flag.Float64Var(&o.seconds, "seconds", 2, "length of one measurement")
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
}

func (o options) benches() []bench {
	return []bench{
		{name: "r64k", conns: 64, size: 64 << 10, seconds: o.seconds},
		{name: "r512k", conns: 16, size: 512 << 10, seconds: o.seconds},
		{name: "r2k", conns: 128, size: 2 << 10, seconds: o.seconds},
		{name: "stream", conns: 1, seconds: o.seconds},
		{name: "newconn", conns: 16, size: 64 << 10, newConn: true, seconds: o.seconds},
		{name: "https64k", conns: 64, size: 64 << 10, tls: true, seconds: o.seconds},
		{name: "https512k", conns: 16, size: 512 << 10, tls: true, seconds: o.seconds},
	}
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
	targets := []*target{own}
	if program, err := exec.LookPath("nginx"); err == nil {
		reference, err := startNginx(ctx, program, dir, base, cert)
		if err != nil {
			return err
		}
		defer reference.stop()
		targets = append(targets, reference)
	} else {
		fmt.Println("nginx is not installed: only our own figures (Debian: apt-get install nginx-light)")
	}
	return o.measure(ctx, own, targets)
}

// measure runs all benches and prints the report.
func (o options) measure(ctx context.Context, own *target, targets []*target) error {
	report := map[string]any{"hosts": o.hosts, "build_ms": own.buildMS}
	wrong, dropped, compared := 0, 0, 0
	var allocs []float64
	fmt.Printf("%-8s %-10s %10s %10s %9s %9s\n", "load", "server", "req/s", "MB/s", "p50 ms", "p99 ms")
	for _, b := range o.benches() {
		rates := map[*target][]float64{}
		for range o.rounds {
			for _, t := range targets {
				before, err1 := t.mallocs()
				r, err := load(ctx, t, b)
				after, err2 := t.mallocs()
				if err = errors.Join(err1, err, err2); err != nil {
					return err
				}
				if t == own && b.name == "r64k" {
					allocs = append(allocs, float64(after-before)/float64(len(r.latencies)))
				}
				rates[t] = append(rates[t], r.rate())
				wrong, dropped, compared = wrong+r.wrong, dropped+r.dropped, compared+r.compared
				fmt.Printf("%-8s %-10s %10.0f %10.0f %9.2f %9.2f\n", b.name, t.name, r.rate(), r.megabytes(), r.percentile(50), r.percentile(99))
			}
		}
		report[b.name] = median(rates[own])
		if len(targets) > 1 {
			report[b.name+"_vs_nginx"] = round(median(rates[own]) / median(rates[targets[1]]))
		}
	}
	rss, err := own.rss()
	if err != nil {
		return err
	}
	all := median(allocs)
	bare, err := own.netHTTPAllocs(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("a range request allocates %.1f objects, of which net/http itself %.1f\n", all, bare)
	report["rss_mib"], report["wrong"], report["dropped"], report["compared"] = rss, wrong, dropped, compared
	report["allocs"], report["net_http_allocs"] = round(max(0, all-bare)), round(bare)
	line, err := json.Marshal(report)
	if err != nil {
		return err
	}
	fmt.Println(string(line))
	if wrong+dropped > 0 {
		return errors.New("bytes were wrong or requests were dropped")
	}
	if compared == 0 {
		return errors.New("nothing was compared: the rounds were too short")
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
