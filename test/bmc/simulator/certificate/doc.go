// Package certificate keeps the key and the certificate that a simulated BMC
// serves, and replaces them as Redfish's CertificateService does: by a signing
// request whose key stays inside, or by a certificate that brings its key.
package certificate
