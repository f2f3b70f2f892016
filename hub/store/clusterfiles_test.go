package store_test

import (
	"context"
	"strings"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

func clusterFiles(ctx context.Context, g *WithT, s store.Store) {
	c := &store.Cluster{API: wire.Cluster{ID: "c"}}
	large := strings.Repeat("a: b\n", 1<<18)
	g.Expect(s.Commit(ctx, &store.Unit{Clusters: []*store.Cluster{c}, Files: []store.ClusterFile{
		{ClusterID: "c", Name: "one", Content: "first"}, {ClusterID: "c", Name: "two", Content: large}, {ClusterID: "d", Name: "one", Content: "another cluster's"},
	}})).To(Succeed())
	content := func(cluster, name string) (text string, err error) {
		err = s.View(ctx, func(r *store.Reader) error { text, err = r.ClusterFile(cluster, name); return err })
		return text, err
	}
	g.Expect(s.View(ctx, func(r *store.Reader) error {
		names, err := r.ClusterFileNames("c", "")
		g.Expect(names).To(Equal([]string{"one", "two"}))
		g.Expect(err).NotTo(HaveOccurred())
		names, err = r.ClusterFileNames("c", "tw")
		g.Expect(names).To(Equal([]string{"two"}))
		return err
	})).To(Succeed())
	text, err := content("c", "two")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(text == large).To(BeTrue())
	g.Expect(s.Commit(ctx, &store.Unit{Files: []store.ClusterFile{
		{ClusterID: "c", Name: "one", Content: "second"}, {ClusterID: "c", Name: "two", Gone: true}, {ClusterID: "c", Name: "none", Gone: true},
	}})).To(Succeed())
	g.Expect(content("c", "one")).To(Equal("second"))
	_, err = content("c", "two")
	g.Expect(err).To(MatchError(store.ErrNotFound))
	g.Expect(s.Commit(ctx, &store.Unit{Gone: []store.Ref{c.Ref()}})).To(Succeed())
	_, err = content("c", "one")
	g.Expect(err).To(MatchError(store.ErrNotFound), "a cluster takes its files with it")
	g.Expect(content("d", "one")).To(Equal("another cluster's"))
}
