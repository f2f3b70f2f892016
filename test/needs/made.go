package needs

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// S3Server returns the path of versitygw, a server that speaks S3.
func S3Server(t testing.TB) string {
	t.Helper()
	return made(t, "versitygw", "s3-server")
}

// Helm returns the path of helm, of the version that tools/helm pins.
func Helm(t testing.TB) string {
	t.Helper()
	return made(t, "helm", "helm")
}

// Krew returns the path of Krew, of the version that tools/krew pins.
func Krew(t testing.TB) string {
	t.Helper()
	return made(t, "krew", "krew")
}

// Cosign returns the path of cosign, of the version that tools/cosign pins.
func Cosign(t testing.TB) string {
	t.Helper()
	return made(t, "cosign", "cosign")
}

// Ironflow returns the path of the program itself.
func Ironflow(t testing.TB) string {
	t.Helper()
	return made(t, "ironflow", "lab-programs")
}

// Shipped returns the path of a program as it is shipped, which `make test-e2e` builds before it runs.
func Shipped(t testing.TB, program string) string {
	t.Helper()
	bin := os.Getenv("IRONFLOW_BIN")
	switch {
	case bin != "":
		return filepath.Join(bin, program)
	case os.Getenv("CI") == "true":
		t.Fatal("IRONFLOW_BIN is not set: run this by `make test-e2e`")
	default:
		t.Skip("IRONFLOW_BIN is not set: run this by `make test-e2e`, which builds the programs first")
	}
	return ""
}

// made returns the path of a program that a target of the Makefile builds: in the
// folder that IRONFLOW_BIN names, where `make test` has it, or on the path.
func made(t testing.TB, program, target string) string {
	t.Helper()
	if bin := os.Getenv("IRONFLOW_BIN"); filepath.IsAbs(bin) {
		if path, err := exec.LookPath(filepath.Join(bin, program)); err == nil {
			return path
		}
	}
	path, err := exec.LookPath(program)
	switch {
	case err == nil:
		return path
	case os.Getenv("CI") == "true":
		t.Fatalf("no %s here: run 'make %s', and set IRONFLOW_BIN to the folder bin", program, target)
	default:
		t.Skipf("no %s here: run 'make %s' once, and set IRONFLOW_BIN to the folder bin", program, target)
	}
	return ""
}
