package store

// ClusterFile is a text that belongs to a cluster and is too large for its record,
// such as a manifest. Whoever changes one writes the cluster as well: the record's
// version vouches for its files.
type ClusterFile struct {
	ClusterID, Name string
	Content         string
	// Gone removes the file; one that is not there is no error.
	Gone bool
}

// ClusterFile returns the content of a file, or [ErrNotFound].
func (r *Reader) ClusterFile(clusterID, name string) (string, error) {
	var content string
	err := r.scanRow("file "+name+" of cluster "+clusterID, `SELECT doc FROM cluster_files WHERE cluster_id = $1 AND name = $2`, []any{clusterID, name}, &content)
	return content, err
}

// ClusterFileNames returns the names of a cluster's files that begin with the prefix, sorted.
func (r *Reader) ClusterFileNames(clusterID, prefix string) ([]string, error) {
	return all(r, "files of cluster "+clusterID, `SELECT name FROM cluster_files WHERE cluster_id = $1 AND substr(name, 1, $2) = $3 ORDER BY name`,
		[]any{clusterID, len(prefix), prefix}, func(scan func(...any) error) (name string, err error) {
			err = scan(&name)
			return name, err
		})
}

// putClusterFile writes or removes a file.
func (t *tx) putClusterFile(f ClusterFile) error {
	if f.Gone {
		return t.exec("remove file", `DELETE FROM cluster_files WHERE cluster_id = $1 AND name = $2`, f.ClusterID, f.Name)
	}
	return t.exec("write file", `INSERT INTO cluster_files (cluster_id, name, doc) VALUES ($1, $2, $3)
		ON CONFLICT (cluster_id, name) DO UPDATE SET doc = excluded.doc`, f.ClusterID, f.Name, clean(f.Content))
}

// removeCluster removes the record with its files. Its events stay.
func (t *tx) removeCluster(r Ref) error {
	if err := t.change("remove cluster", `DELETE FROM clusters WHERE id = $1 AND version = $2`, r.ID, r.Version); err != nil {
		return err
	}
	return t.exec("remove files", `DELETE FROM cluster_files WHERE cluster_id = $1`, r.ID)
}
