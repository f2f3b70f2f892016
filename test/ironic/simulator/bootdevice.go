package simulator

import "net/http"

// getBootDevice answers what a machine boots from. Ironic asks the BMC for it each time.
func getBootDevice(s *Server, r *http.Request) (int, any, error) {
	if _, err := s.nodeOf(r); err != nil {
		return 0, nil, err
	}
	return http.StatusOK, map[string]any{"boot_device": "disk", "persistent": false}, nil
}
