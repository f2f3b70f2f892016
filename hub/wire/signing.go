package wire

// Names of the events by which the program inside a cluster tells of the certificate signing requests of a
// host's kubelet. They are Ironflow's own: for other hubs they are events like any.
const (
	EventSigningApproved = "host_signing_request_approved"
	EventSigningFailed   = "host_signing_request_failed"
)

// Types of signing requests.
const (
	SigningTypeClient  = "client"
	SigningTypeServing = "serving"
)

// SigningProps are the props of such an event.
type SigningProps struct {
	// Request is the name of the CertificateSigningRequest.
	Request string `json:"request"`
	// Type is client or serving.
	Type string `json:"type"`
	// At is when it was approved, or when that was tried.
	At DateTime `json:"at"`
	// Error is why the API server did not take the approval.
	Error string `json:"error,omitempty"`
}
