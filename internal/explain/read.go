package explain

import (
	"encoding/json"
	"errors"
	"slices"
)

// maxReadDepth bounds the nesting of parts in an explanation that is read: more than an
// expression of a rule can have.
const maxReadDepth = 1000

var errNoExplanation = errors.New("no explanation")

// Read reads the JSON of an explanation. It returns an error for any other answer, as the
// address may be that of another program.
func Read(body []byte) (*Explanation, error) {
	x := &Explanation{}
	if json.Unmarshal(body, x) != nil || x.State == "" || slices.Contains(x.Rules, nil) {
		return nil, errNoExplanation
	}
	for _, r := range x.Rules {
		if r.Tree != nil && !r.Tree.complete(0) {
			return nil, errNoExplanation
		}
	}
	return x, nil
}

// complete reports whether a part that was read has all that Text expects.
func (n *Node) complete(depth int) bool {
	if n == nil || depth > maxReadDepth || n.Deciding < 0 || n.Deciding > len(n.Series) {
		return false
	}
	for _, child := range n.Children {
		if !child.complete(depth + 1) {
			return false
		}
	}
	for _, r := range n.Recordings {
		if r.Tree != nil && !r.Tree.complete(depth+1) {
			return false
		}
	}
	return true
}
