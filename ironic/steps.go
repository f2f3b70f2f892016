package ironic

import (
	"cmp"
	"maps"
	"slices"
)

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// namedValues turns settings into the list form that steps take, in a stable order.
func namedValues(settings map[string]any) []map[string]any {
	list := make([]map[string]any, 0, len(settings))
	for _, name := range sortedKeys(settings) {
		list = append(list, map[string]any{"name": name, "value": settings[name]})
	}
	return list
}
