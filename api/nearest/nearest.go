// Package nearest finds what somebody meant who wrote a name that there is not, such as that of a
// field in a file. The function is [Name].
package nearest

import "strings"

// Name is the one of the names that takes the fewest changes of letters, whatever their case, and how
// many these are: a letter that is another one, is missing or is too many. Of several, it is the first;
// it is empty where there are no names.
func Name(written string, names []string) (best string, changes int) {
	for i, n := range names {
		if d := distance(strings.ToLower(written), strings.ToLower(n)); i == 0 || d < changes {
			best, changes = n, d
		}
	}
	return best, changes
}

// distance is the Levenshtein distance of two names, in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
