package strictyaml

import (
	"strconv"
	"strings"
)

// step is a part of a path: a key of a mapping, or an index of a list.
type step struct {
	key   string
	index int // -1 for a key
}

// PathKey appends a key to a path: "a.b", or `a["b.c"]` for a key that would be
// ambiguous.
func PathKey(path, key string) string {
	switch {
	case key == "" || strings.ContainsAny(key, ".[]\"\n"):
		return path + "[" + strconv.Quote(key) + "]"
	case path == "":
		return key
	}
	return path + "." + key
}

// PathIndex appends an index to a path: "a[2]".
func PathIndex(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// steps parses a path up to the first invalid part.
func steps(path string) []step {
	var list []step
	for path != "" {
		switch {
		case strings.HasPrefix(path, `["`):
			quoted, err := strconv.QuotedPrefix(path[1:])
			if err != nil || !strings.HasPrefix(path[1+len(quoted):], "]") {
				return list
			}
			key, _ := strconv.Unquote(quoted)
			list, path = append(list, step{key, -1}), path[len(quoted)+2:]
		case path[0] == '[':
			number, rest, closed := strings.Cut(path[1:], "]")
			i, err := strconv.Atoi(number)
			if err != nil || i < 0 || !closed {
				return list
			}
			list, path = append(list, step{"", i}), rest
		default:
			path = strings.TrimPrefix(path, ".")
			end := strings.IndexAny(path, ".[")
			if end < 0 {
				end = len(path)
			}
			list, path = append(list, step{path[:end], -1}), path[end:]
		}
	}
	return list
}

// within reports whether path is parent or below it.
func within(path, parent string) bool {
	rest, ok := strings.CutPrefix(path, parent)
	return ok && (parent == "" || rest == "" || rest[0] == '.' || rest[0] == '[')
}
