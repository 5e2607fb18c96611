package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
)

// printedMan is the output of vitals generate man.
func printedMan(t *testing.T) string {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run([]string{"generate", "man"}, &out, &errs); code != exitOK || errs.Len() > 0 {
		t.Fatalf("vitals generate man = %d, %s, want 0", code, errs.String())
	}
	return out.String()
}

// The page has every command and every flag that --help lists.
func TestManPageIsComplete(t *testing.T) {
	page := strings.ReplaceAll(printedMan(t), `\-`, "-")
	sections := strings.Split(page, "\n.SS \"vitals ")
	for command, flags := range docCommands(t) {
		found := false
		for _, section := range sections[1:] {
			title, body, _ := strings.Cut(section, "\"\n")
			if title != command && !strings.HasPrefix(title, command+" ") {
				continue
			}
			found = true
			for _, name := range flags {
				if !strings.Contains(body, `\fB--`+name+`\fR`) && !strings.Contains(sections[0], `\fB--`+name+`\fR`) {
					t.Errorf("the page does not have --%s of %s", name, command)
				}
			}
		}
		if !found {
			t.Errorf("the page does not have the command %s", command)
		}
	}
	for _, want := range []string{".SH NAME\n", ".SH SYNOPSIS\n", ".SH DESCRIPTION\n", ".SH EXIT STATUS\n", ".SH ENVIRONMENT\n", ".SH FILES\n", "0 ok, 1 failing"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not have %q", want)
		}
	}
}

// Each line is a request of man(7) or a text in which nothing is one by accident.
func TestManPageIsRoff(t *testing.T) {
	request := regexp.MustCompile(`^\.(TH|ad|SH|SS|TP|PP|B|BI|I|UR|UE)( |$)`)
	escape := regexp.MustCompile(`\\(f[BIR]|-|e|&|\((dq|aq|ha|ti|ga))`)
	for i, line := range strings.Split(strings.TrimSuffix(printedMan(t), "\n"), "\n") {
		switch rest := escape.ReplaceAllString(line, ""); {
		case strings.HasPrefix(line, ".") && !request.MatchString(line), strings.HasPrefix(line, "'"):
			t.Errorf("line %d is a request that no page needs: %q", i+1, line)
		case strings.Contains(rest, `\`):
			t.Errorf("line %d has an escape that the page does not mean: %q", i+1, line)
		case strings.Contains(rest, "-") && !strings.HasPrefix(line, "."):
			t.Errorf("line %d has a hyphen, which a copied flag would not work with: %q", i+1, line)
		case line == "":
			t.Errorf("line %d is empty, want .PP", i+1)
		}
	}
}
