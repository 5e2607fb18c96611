package text

import (
	"iter"
	"math/bits"
)

// Names finds similar ones among many names. The zero value is empty.
type Names struct{ byLength map[int][]name }

// name is a name with the set of its bytes, modulo 64.
type name struct {
	text  string
	bytes uint64
}

func newName(s string) name {
	n := name{text: s}
	for i := range len(s) {
		n.bytes |= 1 << (s[i] % 64)
	}
	return n
}

// NewNames returns the names.
func NewNames(all []string) Names {
	n := Names{byLength: map[int][]name{}}
	for _, s := range all {
		n.byLength[len(s)] = append(n.byLength[len(s)], newName(s))
	}
	return n
}

// Near returns the names at a distance of at most limit from s, shorter ones first.
func (n Names) Near(s string, limit int) iter.Seq[string] {
	of := newName(s)
	return func(yield func(string) bool) {
		for length := len(s) - limit; length <= len(s)+limit; length++ {
			for _, other := range n.byLength[length] {
				if of.near(other, limit) && !yield(other.text) {
					return
				}
			}
		}
	}
}

// Near reports whether the distance of two texts is at most limit. It is faster than
// Distance for texts that differ much.
func Near(a, b string, limit int) bool {
	return max(len(a), len(b))-min(len(a), len(b)) <= limit && newName(a).near(newName(b), limit)
}

// near reports whether the distance is at most limit. A single edit removes one byte at most
// and adds one.
func (n name) near(other name, limit int) bool {
	return bits.OnesCount64(n.bytes^other.bytes) <= 2*limit && Distance(n.text, other.text) <= limit
}
