package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/resource"
)

// listChunk is how many objects are asked for at once.
const listChunk = 500

// selection is which objects of a kind are meant, in kubectl's way: by names, labels or files.
type selection struct {
	kind     kind
	names    []string
	selector string
	files    []string
	deep     bool // folders within folders, too
	all      bool // of all namespaces
}

// bind adds the flags; verb is what is done with them, for the help.
func (s *selection) bind(cmd *cobra.Command, verb string) {
	flags := cmd.Flags()
	flags.StringVarP(&s.selector, "selector", "l", "", verb+" only "+s.kind.many+" with these labels, such as rack=a1,role!=storage")
	flags.BoolVarP(&s.all, "all-namespaces", "A", false, s.kind.many+" of all namespaces")
	files := &genericclioptions.FileNameFlags{
		Usage: "files, folders or URLs with manifests of the " + s.kind.many + "; - is the standard input", Filenames: &s.files, Recursive: &s.deep,
	}
	files.AddFlags(flags)
	flags.Lookup("recursive").Usage = "also read the folders in the folders of --filename"
}

// check says what is wrong with a selection. A command that changes something wants one, so that it is not done to all because a name was forgotten.
func (s *selection) check(needed bool) error {
	var err error
	if s.names, err = s.kind.bare(s.names); err != nil {
		return err
	}
	if _, err := labels.Parse(s.selector); err != nil {
		return usage("--selector %q: %w", s.selector, err)
	}
	switch {
	case s.all && len(s.names) > 0:
		return usage("names are of one namespace: leave --all-namespaces out")
	case len(s.files) > 0 && (s.all || s.selector != "" || len(s.names) > 0):
		return usage("--filename says which %s are meant: leave names, --selector and --all-namespaces out", s.kind.many)
	case needed && s.selector == "" && len(s.names)+len(s.files) == 0:
		return usage("name %s, or choose them by labels with -l or by files with -f", s.kind.many)
	}
	return nil
}

// find reads the objects that are meant, sorted. One that is named and not there is an error.
func (c *connection) find(s selection) ([]*unstructured.Unstructured, error) {
	if _, err := c.config(); err != nil {
		return nil, err
	}
	namespace, said, err := c.space()
	if err != nil {
		return nil, err
	}
	b := resource.NewBuilder(c.flags).Unstructured().NamespaceParam(namespace).DefaultNamespace().AllNamespaces(s.all).ContinueOnError().Flatten()
	byName := len(s.names) > 0 && s.kind.named == nil
	switch {
	case len(s.files) > 0:
		b.FilenameParam(said, &resource.FilenameOptions{Filenames: s.files, Recursive: s.deep})
	case byName:
		b.ResourceNames(s.kind.made[0].resource, s.names...)
	default:
		for _, m := range s.kind.made {
			b.ResourceTypes(m.resource)
		}
		b.LabelSelectorParam(s.selector).SelectAllParam(s.selector == "").RequestChunksOf(listChunk)
	}
	infos, err := b.Do().Infos()
	if err != nil {
		return nil, s.explain(err, namespace)
	}
	var all []*unstructured.Unstructured
	for _, info := range infos {
		if len(s.files) > 0 {
			if !s.kind.is(info.Mapping.GroupVersionKind) {
				continue // a file has other things, too
			}
			if err := info.Get(); err != nil {
				return nil, s.explain(err, info.Namespace)
			}
		}
		if o, is := info.Object.(*unstructured.Unstructured); is {
			all = append(all, o)
		}
	}
	if all, err = s.narrow(all, namespace); err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b *unstructured.Unstructured) int { return strings.Compare(keyOf(a), keyOf(b)) })
	return all, nil
}

// narrow takes those away that are not meant.
func (s *selection) narrow(all []*unstructured.Unstructured, namespace string) ([]*unstructured.Unstructured, error) {
	switch {
	case len(s.files) > 0 && len(all) == 0:
		return nil, fmt.Errorf("there is no %s in %s", s.kind.name, strings.Join(s.files, ", "))
	case len(s.names) == 0:
		return all, nil
	case s.kind.named != nil:
		return s.kind.named(all, s.names)
	}
	wanted, err := labels.Parse(s.selector)
	if err != nil {
		return nil, err
	}
	for _, o := range all {
		if !wanted.Matches(labels.Set(o.GetLabels())) {
			return nil, fmt.Errorf("%s %s/%s has not the labels %s", s.kind.name, namespace, o.GetName(), s.selector)
		}
	}
	return all, nil
}

// explain says what an error of the API server means for who has called.
func (s *selection) explain(err error, namespace string) error {
	if list, is := errors.AsType[utilerrors.Aggregate](err); is {
		var all []error
		for _, one := range list.Errors() {
			all = append(all, s.explain(one, namespace))
		}
		return errors.Join(all...)
	}
	status, is := errors.AsType[*apierrors.StatusError](err)
	switch {
	case is && apierrors.IsNotFound(err) && status.Status().Details != nil && status.Status().Details.Kind == "namespaces":
		return fmt.Errorf("namespace %s is not there", status.Status().Details.Name)
	case is && apierrors.IsNotFound(err) && status.Status().Details != nil && status.Status().Details.Name != "":
		return fmt.Errorf("%s %s/%s is not there", s.kind.name, namespace, status.Status().Details.Name)
	case meta.IsNoMatchError(err), strings.Contains(err.Error(), "the server doesn't have a resource type"):
		return fmt.Errorf("the cluster knows no %s: is it the right one (--context), and are Ironflow's CustomResourceDefinitions installed? %w", s.kind.many, err)
	}
	return err
}

// none says that nothing was found.
func (s *selection) none(namespace string) string {
	text := "No " + s.kind.many + " found"
	if !s.all {
		text += " in namespace " + namespace
	}
	if s.selector != "" {
		text += " with the labels " + s.selector
	}
	return text + "."
}

// keyOf names an object among those of several kinds and namespaces.
func keyOf(o *unstructured.Unstructured) string {
	return o.GetNamespace() + "/" + o.GetName() + "/" + o.GetKind()
}

// typed reads an object as its type.
func typed[T any](o *unstructured.Unstructured) (*T, error) {
	into := new(T)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, into); err != nil {
		return nil, fmt.Errorf("%s %s/%s: %w", o.GetKind(), o.GetNamespace(), o.GetName(), err)
	}
	return into, nil
}

// typedAll reads those objects that are of the kind.
func typedAll[T any](all []*unstructured.Unstructured, kind string) ([]T, error) {
	var list []T
	for _, o := range all {
		if o.GetKind() != kind {
			continue
		}
		one, err := typed[T](o)
		if err != nil {
			return nil, err
		}
		list = append(list, *one)
	}
	return list, nil
}

// hosts reads the hosts that a command is to work on; none is an error.
func (c *connection) hosts(s selection) ([]metal3v1.BareMetalHost, error) {
	found, err := c.find(s)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		namespace, _, err := c.space()
		if err != nil {
			return nil, err
		}
		return nil, errors.New(s.none(namespace))
	}
	return typedAll[metal3v1.BareMetalHost](found, "BareMetalHost")
}
