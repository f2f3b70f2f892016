package rest

import (
	"net/http"

	"github.com/ironflow/ironflow/hub/protocol"
)

// Base is the path that every operation lies below.
const Base = protocol.Base

// Methods that a path may be asked with, for the 405 of a known path.
var methods = []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}
