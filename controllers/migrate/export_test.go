package migrate

// Names of the checks, as in docs/migrate.md.
func Names() []string {
	var list []string
	for _, c := range checks {
		list = append(list, c.name)
	}
	return list
}
