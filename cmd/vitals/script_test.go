package main

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/vitals-health/vitals/collectors/kinds"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"vitals": main, "vitals-that-adopts": adoptingMain, "bare-client": bareClient})
}

// TestScript runs the command line as a user would; the scripts are its manual.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		// The race detector would wait for a second at the end of each process.
		Setup: func(env *testscript.Env) error {
			env.Setenv("GORACE", "atexit_sleep_ms=0")
			env.Setenv("KINDS", strings.Join(kinds.Names(), ", "))
			return nil
		},
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			// exits CODE COMMAND...: the command ends with that very code.
			"exits": exits,
			// timeless FILE: the last output without its times and ages, as FILE.
			"timeless": timeless,
		},
	})
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if want := args[0]; strconv.Itoa(code) != want {
		ts.Fatalf("exit code = %d, want %s", code, want)
	}
}

func timeless(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: timeless FILE")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(withoutTimes(ts.ReadFile("stdout"))), 0o600))
}
