package rest

import (
	"net/http"
	"slices"

	"github.com/ironflow/ironflow/hub/protocol"
)

// reveals are the operations that change nothing and hand out secrets, or what opens a cluster or a live image.
var reveals = []string{
	"V2GetCredentials", "V2DownloadClusterCredentials", "V2GetPresignedForClusterCredentials", "V2DownloadClusterFiles", "V2GetPresignedForClusterFiles",
	"v2DownloadHostIgnition", "v2GetClusterInstallConfig", "v2DownloadClusterManifest",
	"V2DownloadClusterLogs", // all of a cluster have its manifests
	"v2DownloadInfraEnvFiles", "GetInfraEnvPresignedFileURL", "GetInfraEnvDownloadURL", "DownloadMinimalInitrd",
}

// audited tells that a user's call is written down: of an operation that changes something or
// reveals secrets, and of any that the user's role does not open.
func audited(op protocol.Operation, code int) bool {
	return op.Method != http.MethodGet || slices.Contains(reveals, op.ID) || code == http.StatusForbidden
}

// audit logs what a user did or was refused. Bodies and queries may hold secrets: neither is
// part of it.
func (s *Server) audit(w http.ResponseWriter, r *http.Request, op protocol.Operation, user string) {
	code := 0
	if counted, ok := w.(*statusWriter); ok {
		code = counted.code
	}
	if user == "" || !audited(op, code) {
		return
	}
	s.log.Info("a user's request", "user", user, "operation", op.ID, "path", clip(r.URL.Path), "code", code, "from", r.RemoteAddr, "request", clip(r.Header.Get("X-Request-ID")))
}
