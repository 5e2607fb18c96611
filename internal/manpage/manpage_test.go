package manpage

import "testing"

func TestRoff(t *testing.T) {
	for given, want := range map[string]string{
		"--web.x":                  `\-\-web.x`,
		".hidden":                  `\&.hidden`,
		`a "b" 'c' \d ^~` + "`\ne": `a \(dqb\(dq \(aqc\(aq \ed \(ha\(ti\(ga e`,
	} {
		if got := roff(given); got != want {
			t.Errorf("roff(%q) = %q, want %q", given, got, want)
		}
	}
}
