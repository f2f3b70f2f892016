package store

import (
	"slices"
	"time"
)

// Signing are the certificate signing requests of a host's kubelet, as the program inside its
// cluster has told of them.
type Signing struct {
	// Approved are the newest that were approved, oldest first.
	Approved []Signed `json:",omitempty"`
	// Attempted is when one was approved last, or when that was tried last.
	Attempted time.Time `json:",omitzero"`
}

// Add notes one more, and forgets all but the newest.
func (s *Signing) Add(one Signed, most int) {
	s.Approved = append(slices.Clone(s.Approved), one)
	slices.SortStableFunc(s.Approved, func(a, b Signed) int { return a.At.Compare(b.At) })
	s.Approved = s.Approved[max(0, len(s.Approved)-most):]
	if one.At.After(s.Attempted) {
		s.Attempted = one.At
	}
}

// Signed is a signing request that was approved.
type Signed struct {
	// Name of the CertificateSigningRequest, and Type, which is client or serving.
	Name, Type string
	At         time.Time
}
