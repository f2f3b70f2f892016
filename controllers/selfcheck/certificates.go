package selfcheck

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// CertificateFile is a file with certificates, by the setting that names it.
type CertificateFile struct {
	// What it is for, such as "Ironic's CA (--ironic-ca)".
	What string
	// Cert is the file; Key is that of its key, empty for certificates that are trusted.
	Cert, Key string
	// Optional files may be missing.
	Optional bool
}

// soon is before when a certificate should be renewed.
const soon = 14 * 24 * time.Hour

// Certificates reads each file: whether it can be used, and how long.
func Certificates(files []CertificateFile, now func() time.Time) Check {
	return Check{"certificates", func(context.Context) (findings []Finding) {
		read := 0
		for _, f := range files {
			last, err := f.notAfter()
			if errors.Is(err, fs.ErrNotExist) && f.Optional {
				continue
			}
			read++
			switch left := last.Sub(now()); {
			case err != nil:
				findings = append(findings, wrong(fmt.Sprintf("%s: %v", f.What, err), "put a PEM file there, with the key that belongs to it")...)
			case left < 0:
				findings = append(findings, wrong(fmt.Sprintf("%s: %s was valid until %s", f.What, f.Cert, last.UTC().Format(time.RFC3339)), "renew it")...)
			case left < soon:
				findings = append(findings, doubtful(fmt.Sprintf("%s: %s is valid until %s", f.What, f.Cert, last.UTC().Format(time.RFC3339)), "renew it")...)
			}
		}
		if len(findings) == 0 {
			return good(fmt.Sprintf("%d files, all valid for two weeks and more", read))
		}
		return findings
	}}
}

// notAfter is when the first certificate of the file runs out; where certificates are trusted,
// when the last one does: one that is good is enough.
func (f CertificateFile) notAfter() (last time.Time, err error) {
	if f.Key != "" {
		pair, err := tls.LoadX509KeyPair(f.Cert, f.Key)
		if err != nil {
			return last, err
		}
		return pair.Leaf.NotAfter, nil
	}
	raw, err := os.ReadFile(f.Cert)
	if err != nil {
		return last, err
	}
	for block, rest := pem.Decode(raw); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return last, fmt.Errorf("%s: %w", f.Cert, err)
		}
		if cert.NotAfter.After(last) {
			last = cert.NotAfter
		}
	}
	if last.IsZero() {
		return last, fmt.Errorf("%s holds no certificate in PEM", f.Cert)
	}
	return last, nil
}
