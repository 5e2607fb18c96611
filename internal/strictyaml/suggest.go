package strictyaml

import "strings"

// maxListed is how many expected keys a message lists.
const maxListed = 12

// Nearest returns the known name that was probably meant, or "".
func Nearest(got string, known []string) string {
	best, distance := "", 1+len(got)/3
	for _, k := range known {
		if n := editDistance(got, k); n <= distance && n < len(k) {
			best, distance = k, n-1
		}
	}
	return best
}

// Expected says which of the known names was probably meant, or which ones there are.
func Expected(got string, known []string) string {
	best := Nearest(got, known)
	switch {
	case best != "":
		return "did you mean " + quote(best) + "?"
	case len(known) == 0:
		return "expected no keys here"
	case len(known) <= maxListed:
		return "expected one of " + strings.Join(known, ", ")
	}
	return "expected one of " + strings.Join(known[:maxListed], ", ") + ", ..."
}

// editDistance counts the insertions, deletions and replacements of bytes between
// two keys. Long texts are not worth the comparison and are far from everything.
func editDistance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return len(a) + len(b)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
