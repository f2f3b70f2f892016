package reconcile

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	kjson "sigs.k8s.io/json"
)

// Unknown are members of a JSON document that its Go type lacks, by their paths, such
// as "provisioning.raid.volumes[0].root": a newer version of the API has them.
type Unknown map[string]any

// DecodeKnown reads a JSON document into a value, and returns the members that its type
// lacks. Members count as known in their exact spelling only; one that is there twice
// is an error.
func DecodeKnown(raw []byte, into any) (Unknown, error) {
	strict, err := kjson.UnmarshalStrict(raw, into)
	if err != nil {
		return nil, err
	}
	var document any
	if err := json.Unmarshal(raw, &document); err != nil {
		return nil, err
	}
	unknown := Unknown{}
	for _, problem := range strict {
		path, is := unknownField(problem)
		if !is {
			return nil, problem
		}
		unknown[path], _ = at(document, path)
	}
	return unknown, nil
}

// unknownField is the path that an error of a strict decoder is about, if it is about a
// member that the type lacks.
func unknownField(err error) (path string, is bool) {
	text, is := strings.CutPrefix(err.Error(), "unknown field ")
	if !is {
		return "", false
	}
	path, err = strconv.Unquote(text)
	return path, err == nil
}

// Without returns the members that are not below a member of the document.
func (u Unknown) Without(member string) Unknown {
	rest := maps.Clone(u)
	maps.DeleteFunc(rest, func(path string, _ any) bool { return strings.HasPrefix(path, member+".") })
	return rest
}

// Lacking lists the paths of the members that a document does not have, sorted.
func (u Unknown) Lacking(document any) []string {
	var paths []string
	for _, path := range slices.Sorted(maps.Keys(u)) {
		if _, there := at(document, path); !there {
			paths = append(paths, path)
		}
	}
	return paths
}

// addTo puts the members into the document that they are of, but for those whose name
// is no plain one.
func (u Unknown) addTo(document map[string]any) {
	for path, value := range u {
		parts := steps(path)
		parent, _ := walk(document, parts[:len(parts)-1])
		if object, is := parent.(map[string]any); is && value != nil {
			object[parts[len(parts)-1]] = value
		}
	}
}

var step = regexp.MustCompile(`[^.\[\]]+|\[\d+\]`)

// steps are the names and the indexes, these in brackets, of a path.
func steps(path string) []string { return step.FindAllString(path, -1) }

// at is the member of a document at a path.
func at(document any, path string) (value any, there bool) { return walk(document, steps(path)) }

func walk(document any, path []string) (value any, there bool) {
	for _, s := range path {
		if index, is := strings.CutPrefix(s, "["); is {
			list, isList := document.([]any)
			i, err := strconv.Atoi(strings.TrimSuffix(index, "]"))
			if !isList || err != nil || i >= len(list) {
				return nil, false
			}
			document = list[i]
			continue
		}
		object, isObject := document.(map[string]any)
		if document, there = object[s]; !isObject || !there {
			return nil, false
		}
	}
	return document, true
}
