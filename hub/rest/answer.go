package rest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/ironflow/ironflow/hub/protocol"
	"github.com/ironflow/ironflow/hub/wire"
)

// writeError answers in the protocol's error model.
func writeError(w http.ResponseWriter, code int, reason string) {
	writeJSON(w, code, wire.Error{Kind: wire.ErrorKindError, ID: int64(code), Code: strconv.Itoa(code), Reason: reason})
}

// writeRefused answers one who may not call the operation, in the model that the protocol
// has for that: operations that do not name such an answer have the one of all other errors.
func writeRefused(w http.ResponseWriter, op protocol.Operation, e wire.InfraError) {
	if slices.Contains(op.Errors, int(e.Code)) {
		writeInfraError(w, e)
		return
	}
	writeError(w, int(e.Code), e.Message)
}

// writeInfraError answers a refusal of the authentication, which has a model of its own.
func writeInfraError(w http.ResponseWriter, e wire.InfraError) {
	writeJSON(w, int(e.Code), e)
}

func writeJSON(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(code)
	// A client that is gone is not told that it is.
	_ = json.NewEncoder(w).Encode(body)
}

// serve sends a download; ranges and conditions are net/http's.
func (f *file) serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", "attachment; filename="+strconv.Quote(f.name))
	if f.archive == nil {
		http.ServeContent(w, r, "", time.Now(), bytes.NewReader(f.raw))
		return
	}
	defer f.archive.Close()
	// An archive that breaks off is shorter than the answer says, so the connection is broken off, too.
	http.ServeContent(w, r, "", f.archive.Modified, f.archive)
}

func byteCount(n int64) string { return fmt.Sprintf("%d bytes", n) }
