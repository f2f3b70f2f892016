package rest

import "net/http"

// documentPaths are where clients look for the OpenAPI document.
var documentPaths = []string{Base + "/v2/openapi", "/swagger.json"}

// serveDocument answers everybody: the document holds nothing but the protocol.
func (s *Server) serveDocument(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(s.document) // a client that is gone is not told that it is
}
