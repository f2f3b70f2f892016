package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/ironflow/ironflow/hub/pki"
)

// nginxSettings are those among which nginx has its best one for each load. With
// tcp_nopush the last segment of an answer over a kept connection may wait 40 ms for
// the client's acknowledgement; without it there are more segments. All send the
// plain base.
var nginxSettings = []string{
	"sendfile on; tcp_nopush off;",
	"sendfile on; tcp_nopush on;",
	"sendfile on; tcp_nopush off; open_file_cache max=100;",
	"sendfile on; tcp_nopush on; open_file_cache max=100;",
	"sendfile on; tcp_nopush off; open_file_cache max=100; sendfile_max_chunk 0;",
	"sendfile off; output_buffers 2 64k; open_file_cache max=100;",
	"sendfile off; output_buffers 2 512k; open_file_cache max=100;",
}

const (
	nginxConfig = `daemon off; worker_processes WORKERS; pid DIR/nginx.pid; error_log DIR/nginx.log;
events { worker_connections 4096; }
http {
  access_log off; keepalive_requests 1000000; default_type application/octet-stream;
  client_body_temp_path DIR/t1; proxy_temp_path DIR/t2; fastcgi_temp_path DIR/t3; uwsgi_temp_path DIR/t4; scgi_temp_path DIR/t5;
  ssl_certificate CERT; ssl_certificate_key KEY; ssl_protocols TLSv1.3; ssl_conf_command Ciphersuites TLS_AES_128_GCM_SHA256;
SERVERS}
`
	nginxServer = "  server { listen ADDR; listen SECURE ssl; root ROOT; SETTING }\n"
)

// startNginx starts nginx with every setting, each under an address of its own, and
// with each number of workers.
func startNginx(ctx context.Context, program, dir, base, workers string, cert pki.Files) (all []*target, err error) {
	// The workers may run as somebody else, who must be able to reach the file.
	if err := os.Chmod(dir, 0o755); err != nil {
		return nil, err
	}
	for workers := range strings.SplitSeq(workers, ",") {
		of, err := startWorkers(ctx, program, filepath.Join(dir, "nginx-"+workers), workers, base, cert)
		all = append(all, of...)
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

// startWorkers starts nginx with so many processes.
func startWorkers(ctx context.Context, program, dir, workers, base string, cert pki.Files) (all []*target, err error) {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	file, err := os.Open(base)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, "-c", filepath.Join(dir, "nginx.conf"), "-p", dir)
	cmd.Stderr = io.Discard
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	var servers strings.Builder
	for _, setting := range nginxSettings {
		addr, err1 := freeAddress(ctx)
		secure, err2 := freeAddress(ctx)
		if err := errors.Join(err1, err2); err != nil {
			return nil, err
		}
		_, _ = strings.NewReplacer("ADDR", addr, "SECURE", secure, "ROOT", filepath.Dir(base), "SETTING", setting).WriteString(&servers, nginxServer)
		all = append(all, &target{
			name: "nginx", setting: "worker_processes " + workers + "; " + setting, addr: addr, tlsAddr: secure,
			paths: []string{"/" + filepath.Base(base)}, size: info.Size(), cmd: cmd,
			content: func(string) io.ReaderAt { return file },
		})
	}
	text := strings.NewReplacer("DIR", dir, "WORKERS", workers, "CERT", cert.Cert, "KEY", cert.Key, "SERVERS", servers.String()).Replace(nginxConfig)
	if err := os.WriteFile(filepath.Join(dir, "nginx.conf"), []byte(text), 0o600); err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return all, all[0].answers(ctx)
}

// answers waits until somebody listens.
func (t *target) answers(ctx context.Context) error {
	for deadline := time.Now().Add(10 * time.Second); ; {
		c, err := new(net.Dialer).DialContext(ctx, "tcp", t.addr)
		if err == nil {
			return c.Close()
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("nginx did not start: %w", err)
		}
		<-time.After(20 * time.Millisecond)
	}
}

// stopAll ends the processes of the targets.
func stopAll(all []*target) {
	stopped := map[*os.Process]bool{}
	for _, t := range all {
		if p := t.cmd.Process; p != nil && !stopped[p] {
			stopped[p] = true
			t.stop()
		}
	}
}

const (
	// tryRounds is how often each setting is tried, tryFor how long each time, as a
	// part of a measurement.
	tryRounds = 3
	tryFor    = 0.25
)

// best finds nginx's best setting for a load, and says which.
func best(ctx context.Context, all []*target, b bench) *target {
	b.seconds *= tryFor
	rates := map[*target][]float64{}
	for range tryRounds {
		for _, t := range all {
			rate := 0.0 // nothing was answered in so short a time
			if r, err := load(ctx, t, b); err == nil {
				rate = r.rate()
			}
			rates[t] = append(rates[t], rate)
		}
	}
	chosen := all[0]
	for _, t := range all {
		if median(rates[t]) > median(rates[chosen]) {
			chosen = t
		}
	}
	for _, t := range all {
		mark := " "
		if t == chosen {
			mark = "*"
		}
		fmt.Printf("%-9s nginx %s %9.0f req/s  %s\n", b.name, mark, median(rates[t]), t.setting)
	}
	return chosen
}
