package strictyaml

import "strings"

// maxListed bounds the keys in a message.
const maxListed = 12

// Nearest returns the most similar valid name, or "" if none is similar.
func Nearest(got string, valid []string) string {
	best, distance := "", 1+len(got)/3
	for _, k := range valid {
		if n := editDistance(got, k); n <= distance && n < len(k) {
			best, distance = k, n-1
		}
	}
	return best
}

// Expected returns a suggestion for an unvalid name: a similar valid name or a list of them.
func Expected(got string, valid []string) string {
	best := Nearest(got, valid)
	switch {
	case best != "":
		return "did you mean " + quote(best) + "?"
	case len(valid) == 0:
		return "expected no keys here"
	case len(valid) <= maxListed:
		return "expected one of " + strings.Join(valid, ", ")
	}
	return "expected one of " + strings.Join(valid[:maxListed], ", ") + ", ..."
}

// editDistance returns the number of insertions, deletions and replacements of bytes between
// two keys. Texts of more than 64 bytes are never similar.
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
