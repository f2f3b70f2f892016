package main

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/client-go/util/jsonpath"

	"github.com/ironflow/ironflow/controllers/host/view/render"
)

// customColumns is the beginning of an output format.
const customColumns = "custom-columns="

// columns prints HEADER:PATH pairs. kubectl's own printer lies in a library of all of kubectl, so that this one is ours.
type columns struct {
	head    []string
	paths   []*jsonpath.JSONPath
	headers bool
}

// path is a JSONPath as people write it: with or without the dot before it and the braces around it.
var path = regexp.MustCompile(`^\{?\.?([^{}]+)\}?$`)

func newColumns(spec string, headers bool) (printers.ResourcePrinter, error) {
	c := &columns{headers: headers}
	for part := range strings.SplitSeq(spec, ",") {
		name, expression, both := strings.Cut(part, ":")
		written := path.FindStringSubmatch(expression)
		if !both || name == "" || written == nil {
			return nil, usage("--output %s: %q is not HEADER:PATH, such as NAME:.metadata.name", customColumns, part)
		}
		parsed := jsonpath.New(name).AllowMissingKeys(true)
		if err := parsed.Parse("{." + written[1] + "}"); err != nil {
			return nil, usage("--output %s: column %s: %w", customColumns, name, err)
		}
		c.head, c.paths = append(c.head, name), append(c.paths, parsed)
	}
	return c, nil
}

// PrintObj implements printers.ResourcePrinter. The headers come once, also where more objects follow.
func (c *columns) PrintObj(o runtime.Object, w io.Writer) error {
	var rows [][]string
	each := func(o runtime.Object) error {
		one, is := o.(*unstructured.Unstructured)
		if !is {
			return fmt.Errorf("print %T: not an object", o)
		}
		row, err := c.row(one)
		rows = append(rows, row)
		return err
	}
	list, many := o.(*unstructured.UnstructuredList)
	var err error
	if many {
		err = list.EachListItem(each)
	} else {
		err = each(o)
	}
	head := c.head
	if !c.headers {
		head = nil
	}
	c.headers = false
	return errors.Join(err, render.Lines(w, head, rows, 0))
}

func (c *columns) row(o *unstructured.Unstructured) ([]string, error) {
	var row []string
	for i, p := range c.paths {
		found, err := p.FindResults(o.Object)
		if err != nil {
			return nil, fmt.Errorf("column %s of %s %s: %w", c.head[i], o.GetKind(), o.GetName(), err)
		}
		var cells []string
		for _, results := range found {
			for _, value := range results {
				cells = append(cells, fmt.Sprint(value.Interface()))
			}
		}
		if len(cells) == 0 {
			cells = []string{"<none>"}
		}
		row = append(row, strings.Join(cells, ","))
	}
	return row, nil
}
