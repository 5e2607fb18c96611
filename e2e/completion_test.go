//go:build e2e

package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// completionNotes takes the place of the program in a shell: it notes the words.
const completionNotes = `
vitals() { if [ "$1" = --completion-bash ]; then "$VITALS_BIN" "$@"; else printf '%s|' "$@" >>"$TYPED"; echo >>"$TYPED"; fi; }
`

// completionDirectory has a configuration, the program as vitals, and what the shells load.
func completionDirectory(t *testing.T) string {
	t.Helper()
	dir := shortDirectory(t, "")
	for name, text := range map[string]string{
		"vitals.yml": "states: {drained: {}}\nrule_files: [rules.yml]\ncollectors: []\n",
		"rules.yml":  "groups: [{name: g, rules: [{alert: DiskFull, expr: vector(0) > 0, labels: {state: ready}}]}]\n",
		"rc":         `source <("$VITALS_BIN" completion bash)` + completionNotes,
		".zshrc":     `autoload -Uz compinit && compinit -u -D; source <("$VITALS_BIN" completion zsh)` + completionNotes,
	} {
		write(t, filepath.Join(dir, name), text)
	}
	if err := os.Symlink(os.Getenv("VITALS_BIN"), filepath.Join(dir, "vitals")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A bash and a zsh with a terminal complete what is typed, with tabs.
func TestCompletionInTerminals(t *testing.T) {
	t.Parallel()
	for name, shell := range map[string]string{"bash": "bash --rcfile ./rc -i", "zsh": "zsh -i"} {
		t.Run(name, func(t *testing.T) {
			dir := completionDirectory(t)
			var keys, want strings.Builder
			for _, line := range []struct{ typed, words string }{
				{"vitals expl\tready", "explain|ready|"},
				{"vitals profiles show kuryr-cn\t", "profiles|show|kuryr-cni|"},
				{"vitals run --profile=so\t", "run|--profile=sonic|"},
				{"vitals check rules builtin:kuryr-cn\t", "check|rules|builtin:kuryr-cni|"},
				{"vitals explain --config.file=vitals.y\t--rule=Dis\t", "explain|--config.file=vitals.yml|--rule=DiskFull|"},
				{"vitals once --config.file=vitals.yml dr\t", "once|--config.file=vitals.yml|drained|"},
				{"vitals explain --form\tj\t", "explain|--format|json|"},
			} {
				keys.WriteString(line.typed + "\n")
				want.WriteString(line.words + "\n")
			}
			cmd := exec.Command("script", "--quiet", "--return", "--command", shell, "/dev/null")
			typed := filepath.Join(dir, "typed")
			cmd.Dir, cmd.Stdin, cmd.WaitDelay = dir, strings.NewReader(keys.String()+"exit\n"), time.Minute
			cmd.Env = append(os.Environ(), "TYPED="+typed, "INPUTRC=/dev/null", "TERM=dumb", "ZDOTDIR="+dir)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%s: %v\n%s", name, err, out)
			}
			if got := read(t, typed); got != want.String() {
				t.Errorf("the words are\n%swant\n%sThe terminal shows\n%s", got, want.String(), out)
			}
		})
	}
}

// fish has a command that completes a line.
func TestCompletionInFish(t *testing.T) {
	t.Parallel()
	dir := completionDirectory(t)
	for line, want := range map[string]string{
		"vitals expl": "explain\n", "vitals profiles show kuryr-cn": "kuryr-cni\n", "vitals run --profile=so": "--profile=sonic\n",
		"vitals explain --config.file=vitals.y":                 "--config.file=vitals.yml\n",
		"vitals explain --config.file=vitals.yml --rule=Dis":    "--rule=DiskFull\n",
		"vitals once --config.file=vitals.yml dr":               "drained\n",
		"vitals check rules builtin:kuryr-controller-histogram": "",
	} {
		script := `vitals completion fish | source; complete --do-complete=$LINE`
		if got := command(t, dir, []string{"LINE=" + line, "HOME=" + dir, "PATH=" + dir + ":" + os.Getenv("PATH")}, "fish", "-c", script); got != want {
			t.Errorf("fish completes %q with %q, want %q", line, got, want)
		}
	}
}

// command runs a program in a directory and returns what it prints.
func command(t *testing.T, dir string, environment []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), environment...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}
