package wire

// Members of requests that may be left out are pointers.

// Value is the text behind a pointer, or nothing.
func Value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// Set changes a member that was given.
func Set[T any](member *T, given *T) {
	if given != nil {
		*member = *given
	}
}
